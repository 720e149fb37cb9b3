#include "compiler/frontend/open_extents.hpp"

#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

// Values whose extent along an axis depends on data, from operator to output.
namespace poprt::frontend {
namespace {

const std::string kNonZero =
    InputText("x", {"2", "3"}) + NodeText("NonZero", {"x"}, {"p"}, "name: \"find\"");

TEST(OpenExtents, NodesPassThemOnToOutputs) {
  const auto model =
      ImportText(kNonZero + OutputText("t") + NodeText("Transpose", {"p"}, {"t"}, ""));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n"
            "  p, find:1 = NonZero(x) : int64[2, 6]\n"
            "  t = Transpose(p) : int64[6, 2]\n"
            "  return t\n"
            "  output 0 axis 0 up to find:1\n");
}

TEST(OpenExtents, ConstantsAreExact) {
  const auto model =
      ImportText(FloatsText("c", {0, 2, 3, 0, 0, 4}, {2, 3}) + OutputText("p") + OutputText("s") +
                 NodeText("NonZero", {"c"}, {"p"}) + NodeText("Shape", {"p"}, {"s"}));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_TRUE(model->graph.nodes.empty());
  EXPECT_TRUE(model->graph.extents.empty());
  const Tensor& places = *model->graph.ConstantOf(model->graph.outputs[0]);
  EXPECT_EQ(places.shape(), (Shape{2, 3}));
  EXPECT_EQ(places.as<std::int64_t>()[2], 1);
  EXPECT_EQ(places.as<std::int64_t>()[5], 2);
  EXPECT_EQ(model->graph.ConstantOf(model->graph.outputs[1])->as<std::int64_t>()[1], 3);
}

TEST(OpenExtents, UniqueGivesOnlyTheOutputsAskedFor) {
  const auto model = ImportText(FloatsText("c", {2, 1, 2}, {3}) + OutputText("y") +
                                OutputText("n") + NodeText("Unique", {"c"}, {"y", "", "", "n"}));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  const Tensor& values = *model->graph.ConstantOf(model->graph.outputs[0]);
  EXPECT_EQ(values.shape(), (Shape{2}));
  EXPECT_EQ(values.as<float>()[0], 1.0F);
  EXPECT_EQ(model->graph.ConstantOf(model->graph.outputs[1])->as<std::int64_t>()[1], 2);
  EXPECT_EQ(ErrorOf(ImportText(kNonZero + OutputText("q") +
                               NodeText("NonZero", {"x"}, {"r", "q"}, "name: \"two\""))),
            "m: node 'two' (NonZero, opset 17, inputs float32[2, 3]): has 2 outputs, its form has "
            "1");
}

TEST(OpenExtents, ShapeAndSizeAreComputedFromTheCount) {
  const auto model = ImportText(kNonZero + OutputText("s") + OutputText("n") + OutputText("first") +
                                NodeText("Shape", {"p"}, {"s"}, "name: \"shape\"") +
                                NodeText("Size", {"p"}, {"n"}, "name: \"size\"") +
                                NodeText("Shape", {"p"}, {"first"}, IntAttribute("end", 1)));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n"
            "  p, find:1 = NonZero(x) : int64[2, 6]\n"
            "  shape/extent_1:0 = Unsqueeze(find:1) axes=[0] : int64[1]\n"
            "  s = Concat(shape/extent, shape/extent_1:0) axis=0 : int64[2]\n"
            "  n = Mul(find:1, size/rest) : int64[]\n"
            "  return s, n, first\n");
}

TEST(OpenExtents, SlicesHaveAnExtentOfTheirOwn) {
  const auto model =
      ImportText(kNonZero + OutputText("y") + IntsText("starts", {1}, {1}) +
                 IntsText("ends", {3}, {1}) + IntsText("axes", {1}, {1}) +
                 NodeText("Slice", {"p", "starts", "ends", "axes"}, {"y"}, "name: \"cut\""));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n"
            "  p, find:1 = NonZero(x) : int64[2, 6]\n"
            "  cut/rest:0 = Sub(find:1, cut/number) : int64[]\n"
            "  cut/count:0 = Max(cut/rest:0, cut/number_1) : int64[]\n"
            "  cut/count_1:0 = Min(cut/count:0, cut/number_2) : int64[]\n"
            "  y = Slice(p) axes=[1] ends=[3] starts=[1] : int64[2, 2]\n"
            "  return y\n"
            "  output 0 axis 1 up to cut/count_1:0\n");
}

/// What a model makes as long as a value with an open axis, as exporters write it.
TEST(OpenExtents, ShapesMayHoldACount) {
  const std::string count = NodeText("Shape", {"p"}, {"s"}, "name: \"shape\"") +
                            IntsText("one", {1}, {}) + IntsText("zero", {0}, {}) +
                            IntsText("front", {0}, {1}) + IntsText("width", {4}, {1}) +
                            NodeText("Gather", {"s", "one"}, {"n"}, "name: \"n\"") +
                            NodeText("Unsqueeze", {"n", "front"}, {"n1"}, "name: \"n1\"") +
                            NodeText("Concat", {"n1", "width"}, {"wide"}, IntAttribute("axis", 0));
  const auto last_lines = [&](const std::string& text) {
    const std::string all = TextOf(ImportText(kNonZero + count + text + OutputText("y")));
    const std::size_t at = all.find("  y = ");
    return at == std::string::npos ? all : all.substr(at);
  };
  EXPECT_EQ(last_lines(NodeText("ConstantOfShape", {"wide"}, {"y"})),
            "  y = ConstantOfShape() shape=[6, 4] : float32[6, 4]\n"
            "  return y\n"
            "  output 0 axis 0 up to find:1\n");
  EXPECT_EQ(last_lines(FloatsText("row", {1, 2, 3, 4}, {1, 4}) +
                       NodeText("Expand", {"row", "wide"}, {"y"})),
            "  y = Expand(row) shape=[6, 4] : float32[6, 4]\n"
            "  return y\n"
            "  output 0 axis 0 up to find:1\n");
  EXPECT_EQ(last_lines(NodeText("Range", {"zero", "n", "one"}, {"y"})),
            "  y = Range() delta=[1] dtype=7 limit=[6] start=[0] : int64[6]\n"
            "  return y\n"
            "  output 0 axis 0 up to find:1\n");
  // An expansion to -1 where the model asks for the extent that is there already.
  EXPECT_EQ(
      last_lines(IntsText("kept", {-1, -1}, {2}) + IntsText("ones", {1, 1}, {2}) +
                 NodeText("Equal", {"wide", "kept"}, {"is_kept"}, "name: \"equal\"") +
                 NodeText("Where", {"is_kept", "ones", "wide"}, {"chosen"}) +
                 FloatsText("row", {1}, {1, 1}) + NodeText("Expand", {"row", "chosen"}, {"y"})),
      "  y = Expand(row) shape=[6, 4] : float32[6, 4]\n"
      "  return y\n"
      "  output 0 axis 0 up to find:1\n");
}

/// What is not the count as it is must not be taken for it.
TEST(OpenExtents, NumbersMadeOfACountAreNotAlwaysTheCount) {
  const std::string count = NodeText("Shape", {"p"}, {"s"}) + IntsText("one", {1}, {1}) +
                            NodeText("Gather", {"s", "one"}, {"n"}, "name: \"n\"") +
                            InputText("rows", {"6", "4"}) + IntsText("zero", {0}, {1});
  const auto text = [&](const std::string& made) {
    return TextOf(ImportText(kNonZero + count + made + OutputText("y") +
                             NodeText("Slice", {"rows", "zero", "k", "zero"}, {"y"})));
  };
  const auto is_known = [&](const std::string& made) {
    return text(made).find("must be known when compiling") != std::string::npos;
  };
  EXPECT_TRUE(is_known(NodeText("Cast", {"n"}, {"b"}, IntAttribute("to", 9)) +
                       NodeText("Cast", {"b"}, {"k"}, IntAttribute("to", 7))));
  EXPECT_TRUE(is_known(NodeText("Cast", {"n"}, {"b"}, IntAttribute("to", 3)) +
                       NodeText("Cast", {"b"}, {"k"}, IntAttribute("to", 7))));
  EXPECT_NE(text(NodeText("Cast", {"n"}, {"b"}, IntAttribute("to", 6)) +
                 NodeText("Cast", {"b"}, {"k"}, IntAttribute("to", 7)))
                .find("up to find:1"),
            std::string::npos);
  EXPECT_NE(text(IntsText("c", {-1}, {1}) + NodeText("Min", {"n", "c"}, {"k"})).find("[5, 4]"),
            std::string::npos);
}

TEST(OpenExtents, RefusesShapesThatCannotBeOpen) {
  const std::string count = NodeText("Shape", {"p"}, {"s"}) + IntsText("one", {1}, {}) +
                            IntsText("two", {2}, {}) +
                            NodeText("Gather", {"s", "one"}, {"n"}, "name: \"n\"");
  const auto error = [&](const std::string& text) {
    return ErrorOf(ImportText(kNonZero + count + text + OutputText("y")));
  };
  EXPECT_NE(error(NodeText("Range", {"two", "n", "one"}, {"y"}))
                .find("depends on data, from node "
                      "'find' (NonZero)"),
            std::string::npos);
  // A second extent.
  EXPECT_NE(error(IntsText("front", {0}, {1}) + NodeText("Unsqueeze", {"n", "front"}, {"n1"}) +
                  NodeText("Slice", {"p", "front", "n1", "front"}, {"y"}))
                .find("of which an extent depends on data, from node 'find' (NonZero)"),
            std::string::npos);
  // Two counts, and what is neither a count nor known.
  EXPECT_NE(error(IntsText("front", {0}, {1}) + NodeText("Unsqueeze", {"n", "front"}, {"n1"}) +
                  NodeText("Concat", {"n1", "n1"}, {"square"}, IntAttribute("axis", 0)) +
                  NodeText("ConstantOfShape", {"square"}, {"y"}))
                .find("must be known when compiling"),
            std::string::npos);
  EXPECT_NE(error(NodeText("Add", {"n", "one"}, {"more"}) + IntsText("front", {0}, {1}) +
                  NodeText("Unsqueeze", {"more", "front"}, {"n1"}) +
                  NodeText("ConstantOfShape", {"n1"}, {"y"}))
                .find("must be known when compiling"),
            std::string::npos);
  // Each level reads the one before twice.
  std::string chain = NodeText("Equal", {"n", "n"}, {"same"}) + IntsText("front", {0}, {1});
  std::string last = "n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = "level" + std::to_string(i);
    chain += NodeText("Where", {"same", last, last}, {next});
    last = next;
  }
  EXPECT_NE(error(chain + NodeText("Unsqueeze", {last, "front"}, {"n1"}) +
                  NodeText("ConstantOfShape", {"n1"}, {"y"}))
                .find("must be known when compiling"),
            std::string::npos);
}

/// As exporters write x[mask] + y[mask].
TEST(OpenExtents, WhatSelectsAlikeHasOneCount) {
  const std::string sum = OutputText("y") + NodeText("Add", {"p", "q"}, {"y"}, "name: \"sum\"");
  const std::string wanted =
      "  y = Add(p, p) : int64[2, 6]\n"
      "  return y\n"
      "  output 0 axis 1 up to find:1\n";
  EXPECT_EQ(TextOf(ImportText(kNonZero + NodeText("NonZero", {"x"}, {"q"}, "name: \"two\"") + sum)),
            "graph m(x)\n  p, find:1 = NonZero(x) : int64[2, 6]\n" + wanted);
  const auto masked = [&](const std::string& limit) {
    return TextOf(ImportText(InputText("x", {"2", "3"}) + FloatsText("a", {0.5}, {}) +
                             FloatsText("b", {0.5}, {}) + FloatsText("c", {0.25}, {}) +
                             NodeText("Greater", {"x", "a"}, {"m"}, "name: \"m\"") +
                             NodeText("NonZero", {"m"}, {"p"}, "name: \"find\"") +
                             NodeText("Greater", {"x", limit}, {"n"}, "name: \"n\"") +
                             NodeText("NonZero", {"n"}, {"q"}, "name: \"two\"") + sum));
  };
  EXPECT_NE(masked("b").find(wanted), std::string::npos);
  EXPECT_NE(masked("c").find("this operator cannot"), std::string::npos);
}

TEST(OpenExtents, FoldsIgnoreWhatLiesBeyond) {
  EXPECT_EQ(TextOf(ImportText(kNonZero + OutputText("y") +
                              NodeText("ReduceMax", {"p"}, {"y"}, "name: \"most\""))),
            "graph m(x)\n"
            "  p, find:1 = NonZero(x) : int64[2, 6]\n"
            "  most/closed:0 = Identity(p) : int64[2, 6]\n"
            "  most/within:0 = Less(most/index:0, find:1) : bool[6]\n"
            "  most/filled:0 = Where(most/within:0, most/closed:0, most/beyond) : int64[2, 6]\n"
            "  y = ReduceMax(most/filled:0) : int64[1, 1]\n"
            "  return y\n");
}

TEST(OpenExtents, JoinedAlongThemExtentsAddUp) {
  const auto text = [](const std::string& made) {
    return TextOf(ImportText(kNonZero + IntsText("rest", {7, 8}, {2, 1}) + made));
  };
  const std::string join =
      NodeText("Concat", {"p", "rest", "p"}, {"y"}, "name: \"join\" " + IntAttribute("axis", -1));
  EXPECT_EQ(
      text(join + OutputText("y")),
      "graph m(x)\n"
      "  p, find:1 = NonZero(x) : int64[2, 6]\n"
      "  join/within:0 = Less(join/index:0, find:1) : bool[6]\n"
      "  join/closed:0 = Identity(p) : int64[2, 6]\n"
      "  join/within_1:0 = Less(join/index_1:0, find:1) : bool[6]\n"
      "  join/closed_1:0 = Identity(p) : int64[2, 6]\n"
      "  join/joined:0 = Concat(join/closed:0, rest, join/closed_1:0) axis=-1 : int64[2, 13]\n"
      "  join/kept:0 = Concat(join/within:0, join/all, join/within_1:0) axis=0 : bool[13]\n"
      "  y, join:1 = Compress(join/joined:0, join/kept:0) axis=-1 : int64[2, 13]\n"
      "  return y\n"
      "  output 0 axis 1 up to join:1\n");
  // With as many added as are taken, all of these are there.
  const auto cut = [&](int begin, int end) {
    const std::string all =
        text(join + IntsText("begin", {begin}, {1}) + IntsText("end", {end}, {1}) +
             IntsText("axis", {1}, {1}) + NodeText("Slice", {"y", "begin", "end", "axis"}, {"z"}) +
             OutputText("z"));
    return all.substr(all.find("  return"));
  };
  EXPECT_EQ(cut(0, 1), "  return z\n");
  EXPECT_NE(cut(0, 2).find("up to"), std::string::npos);
  EXPECT_NE(cut(1, 2).find("up to"), std::string::npos);
}

TEST(OpenExtents, AsManyOfTheLargestAsThereAre) {
  const auto last_lines = [](const std::string& count) {
    const std::string all = TextOf(ImportText(
        kNonZero + NodeText("Shape", {"p"}, {"s"}, "name: \"shape\"") + IntsText("one", {1}, {1}) +
        IntsText("four", {4}, {1}) + NodeText("Gather", {"s", "one"}, {"n"}, "name: \"n\"") +
        count + NodeText("TopK", {"p", "k"}, {"y"}, "name: \"top\"") + OutputText("y")));
    const std::size_t at = all.find("  top/closed:0 = ");
    return at == std::string::npos ? all : all.substr(at);
  };
  const std::string wanted =
      "  top/closed:0 = Identity(p) : int64[2, 6]\n"
      "  top/within:0 = Less(top/index:0, find:1) : bool[6]\n"
      "  top/filled:0 = Where(top/within:0, top/closed:0, top/beyond) : int64[2, 6]\n"
      "  top/count:0 = Min(find:1, top/number) : int64[]\n"
      "  y = TopK(top/filled:0) k=[4] : int64[2, 4]\n"
      "  return y\n"
      "  output 0 axis 1 up to top/count:0\n";
  EXPECT_EQ(last_lines(NodeText("Min", {"n", "four"}, {"k"}, "name: \"k\"")), wanted);
  EXPECT_EQ(last_lines(NodeText("Concat", {"four", "n"}, {"both"}, IntAttribute("axis", 0)) +
                       NodeText("ReduceMin", {"both"}, {"k"}, "name: \"k\"")),
            wanted);
}

TEST(OpenExtents, RefusesWhatWouldMixIn) {
  EXPECT_EQ(ErrorOf(ImportText(kNonZero + OutputText("y") +
                               NodeText("Unique", {"p"}, {"y"}, "name: \"set\""))),
            "m: node 'set' (Unique, opset 17, inputs int64[2, 6]): input 0, 'p', has an extent "
            "along axis 1 that depends on data, from node 'find' (NonZero): this operator cannot "
            "compute with that at run time; freeze the inputs that the extent depends on, or end "
            "the model before this node");
  EXPECT_NE(ErrorOf(ImportText(kNonZero + InputText("z", {"2", "3"}) + OutputText("y") +
                               NodeText("NonZero", {"z"}, {"q"}) +
                               NodeText("Add", {"p", "q"}, {"y"}, "name: \"sum\""))),
            "no error");
}

TEST(OpenExtents, OutputsMayBeDeclaredAsShortAsTheyAre) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
  const auto declared = [](const std::string& extents) {
    return kNonZero + "output { name: \"p\" type { tensor_type { elem_type: 7 shape { " + extents +
           " } } } }";
  };
  ASSERT_TRUE(ImportText(declared("dim { dim_value: 2 } dim { dim_value: 4 }"), 17, options).ok());
  EXPECT_TRUE(warnings.empty());
  ASSERT_TRUE(ImportText(declared("dim { dim_value: 3 } dim { dim_value: 4 }"), 17, options).ok());
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(OpenExtents, BoundOfSelectedBoxes) {
  const std::string inputs =
      InputText("boxes", {"1", "9", "4"}) + InputText("scores", {"1", "2", "9"});
  const std::string node =
      OutputText("y") +
      NodeText("NonMaxSuppression", {"boxes", "scores", "most"}, {"y"}, "name: \"nms\"");
  EXPECT_EQ(TextOf(ImportText(inputs + IntsText("most", {3}, {}) + node)),
            "graph m(boxes, scores)\n"
            "  y, nms:1 = NonMaxSuppression(boxes, scores, most) most_boxes=3 : int64[6, 3]\n"
            "  return y\n"
            "  output 0 axis 0 up to nms:1\n");
  EXPECT_EQ(TextOf(ImportText(inputs + InputText("most", {"1"}, 7) + node)),
            "graph m(boxes, scores, most)\n"
            "  y, nms:1 = NonMaxSuppression(boxes, scores, most) : int64[18, 3]\n"
            "  return y\n"
            "  output 0 axis 0 up to nms:1\n");
}

TEST(OpenExtents, Truncate) {
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::Of<std::int64_t>(ElementType::kInt64, {2, 3}, values);
  const Tensor columns = Truncate(tensor, 1, 2);
  EXPECT_EQ(columns.shape(), (Shape{2, 2}));
  EXPECT_EQ(columns.as<std::int64_t>()[2], 4);
  EXPECT_EQ(columns.as<std::int64_t>()[3], 5);
  EXPECT_EQ(Truncate(tensor, 0, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(Truncate(tensor, 0, 2).shape(), (Shape{2, 3}));
}

}  // namespace
}  // namespace poprt::frontend
