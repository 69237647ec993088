// Nodes that roam, over AODV, with flows of 512 B at 4 packets/s, as the folder `scene` says (roam.py writes it).
#include "mesh.h"

#include <fstream>

int
main(int argc, char** argv)
{
    peers::MeshOptions options;
    options.rts = true;
    options.routing = "aodv";
    std::string scene;
    uint32_t nodes = 100;
    ns3::CommandLine line(__FILE__);
    options.AddTo(line);
    line.AddValue("scene", "folder with movement.tcl and flows.txt", scene);
    line.AddValue("nodes", "as many as the movement has", nodes);
    line.Parse(argc, argv);

    std::ifstream file(scene + "/flows.txt");
    if (!file)
    {
        std::cerr << "scene: can't read " << scene << "/flows.txt\n";
        return 2;
    }
    std::vector<peers::EvenFlow> flows;
    for (peers::EvenFlow flow{0, 0, 0, 512, 0.25}; file >> flow.from >> flow.to >> flow.start;)
    {
        flows.push_back(flow);
    }
    peers::Mesh(options, nodes, scene + "/movement.tcl", flows).Run();
    return 0;
}
