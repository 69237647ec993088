// A square grid, 200 m apart, with one bulk TCP NewReno flow down every column.
#include "mesh.h"

int
main(int argc, char** argv)
{
    peers::MeshOptions options;
    options.window = 8;
    options.rts = true;
    uint32_t side = 6;
    double spacing = 200;
    ns3::CommandLine line(__FILE__);
    options.AddTo(line);
    line.AddValue("side", "nodes in a row and in a column", side);
    line.AddValue("spacing", "between neighbours, m", spacing);
    line.Parse(argc, argv);
    if (side < 2)
    {
        std::cerr << "side: " << side << " is less than 2\n";
        return 2;
    }

    std::vector<ns3::Vector> positions;
    std::vector<peers::MeshFlow> flows;
    for (uint32_t row = 0; row < side; ++row)
    {
        for (uint32_t column = 0; column < side; ++column)
        {
            positions.emplace_back(column * spacing, row * spacing, 0);
        }
    }
    for (uint32_t column = 0; column < side; ++column)
    {
        flows.push_back({column, (side - 1) * side + column});
    }
    peers::Mesh(options, positions, flows).Run();
    return 0;
}
