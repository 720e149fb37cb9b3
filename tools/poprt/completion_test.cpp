#include "tools/poprt/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/poprt/cli_options.hpp"

namespace poprt::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Completion, OffersEveryOptionThatWorks) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string script = CompletionScript(shell);
    for (const OptionDef& def : Options()) {
      const std::string flag = "--" + std::string(def.name);
      if (IsLater(def)) {
        EXPECT_THAT(script, Not(HasSubstr(flag + " "))) << shell;
      } else if (FindFlag(def.name) == &def) {
        EXPECT_THAT(script, HasSubstr(flag)) << shell;
      }
    }
  }
}

TEST(Completion, BashCompletesChoicesAndPaths) {
  const std::string script = CompletionScript("bash");
  EXPECT_THAT(script,
              HasSubstr("    --precision) COMPREPLY=($(compgen -W \"fp32 fp16\" -- \"$word\")); "
                        "return ;;\n"));
  EXPECT_THAT(script, HasSubstr("    -i|--input_model) COMPREPLY=($(compgen -f -- \"$word\"))"));
  EXPECT_THAT(script, HasSubstr("    =) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"));
}

TEST(Completion, ZshDescribesOptions) {
  EXPECT_THAT(CompletionScript("zsh"),
              HasSubstr("    '*--precision[precision of the converted model (default fp32)]:TYPE:"
                        "(fp32 fp16)' \\\n"));
  EXPECT_THAT(CompletionScript("zsh"), HasSubstr(":NAME=FILE:{compset -P \"*=\"; _files}' \\\n"));
}

}  // namespace
}  // namespace poprt::cli
