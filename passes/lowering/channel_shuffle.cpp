#include "passes/lowering/channel_shuffle.hpp"

#include "passes/permutation.hpp"

namespace poprt::passes {

Ints ChannelShuffle::Order() const {
  Ints order;
  for (std::int64_t c = 0; c < channels; ++c) {
    order.push_back(c % groups * (channels / groups) + c / groups);
  }
  return order;
}

std::optional<ChannelShuffle> ChannelShuffleOf(Rewriter& rewriter, ir::ValueId id) {
  const Ints exchanged{0, 2, 1, 3, 4};
  const ir::Graph& graph = rewriter.graph();
  const ir::Node* join = rewriter.Producer(id, "Reshape");
  if (join == nullptr) return std::nullopt;
  const ir::Node* transpose = rewriter.Producer(join->inputs[0], "Transpose");
  if (transpose == nullptr || PermutationOf(graph, *transpose) != exchanged) return std::nullopt;
  const ir::Node* part = rewriter.Producer(transpose->inputs[0], "Reshape");
  if (part == nullptr) return std::nullopt;

  const ir::ValueId x = part->inputs[0];
  const Shape& image = graph.type(id).shape;
  const Shape& parts = graph.type(transpose->inputs[0]).shape;
  constexpr std::size_t kImageRank = 4;
  const bool of_channels =
      image.size() == kImageRank && graph.type(x).shape == image && ElementCount(image) > 0 &&
      parts == Shape{image[0], parts[1], image[1] / parts[1], image[2], image[3]};
  if (!of_channels) return std::nullopt;
  return ChannelShuffle{.x = x, .groups = parts[1], .channels = image[1]};
}

}  // namespace poprt::passes
