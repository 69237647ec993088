// A string of eight nodes, 200 m apart, with one bulk TCP NewReno flow from the first one over `hops` hops.
#include "mesh.h"

int
main(int argc, char** argv)
{
    peers::MeshOptions options;
    uint32_t nodes = 8;
    uint32_t hops = 7;
    double spacing = 200;
    ns3::CommandLine line(__FILE__);
    options.AddTo(line);
    line.AddValue("nodes", "nodes in the string", nodes);
    line.AddValue("hops", "hops of the flow", hops);
    line.AddValue("spacing", "between neighbours, m", spacing);
    line.Parse(argc, argv);
    if (hops == 0 || hops >= nodes)
    {
        std::cerr << "hops: " << hops << " is not between 1 and " << nodes - 1 << "\n";
        return 2;
    }

    std::vector<ns3::Vector> positions;
    for (uint32_t i = 0; i < nodes; ++i)
    {
        positions.emplace_back(i * spacing, 0, 0);
    }
    peers::Mesh(options, positions, {{0, hops}}).Run();
    return 0;
}
