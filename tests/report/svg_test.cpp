#include "report/svg.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;

TEST(XmlEscaped, WritesMarkUpAsEntities) {
  EXPECT_EQ(xml_escaped("<a b=\"c\" d='e'>&amp;"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

TEST(XmlEscaped, KeepsWordsOfAllLanguages) {
  for (const char* words : {"F²OBO", "λ_t ≥ 2", "方法", "\U0001F600", "é\u0301"}) EXPECT_EQ(xml_escaped(words), words);
}

TEST(XmlEscaped, DropsControlCharactersAndMakesBlanksOfLineEnds) {
  EXPECT_EQ(xml_escaped(std::string("a\0b\x01\x1b\x7f"
                                    "c\td\ne",
                                    11)),
            "abc d e");
}

TEST(XmlEscaped, ReplacesWhatIsNotUtf8OrNotXml) {
  const std::string sign = "\uFFFD";
  EXPECT_EQ(xml_escaped("a\xFF"), "a" + sign);
  EXPECT_EQ(xml_escaped("\xC3"), sign);                                // cut
  EXPECT_EQ(xml_escaped("\xC0\xBC"), sign + sign);                     // "<", overlong
  EXPECT_EQ(xml_escaped("\xE0\x80\xBC"), sign + sign + sign);          // the same in three bytes
  EXPECT_EQ(xml_escaped("\xED\xA0\x80"), sign + sign + sign);          // a surrogate
  EXPECT_EQ(xml_escaped("\xEF\xBF\xBF"), sign + sign + sign);          // U+FFFF
  EXPECT_EQ(xml_escaped("\xF4\x90\x80\x80").size(), 4 * sign.size());  // beyond Unicode
}

TEST(TextWidth, IsHelveticas) {
  EXPECT_NEAR(text_width("10", 10), 11.12, 1e-12);
  EXPECT_NEAR(text_width("Wi.", 8), 8 * (0.944 + 0.222 + 0.278), 1e-12);
  EXPECT_EQ(text_width("", 8), 0);
}

TEST(Fitted, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(fitted("short", 8, 100), "short");
  // Three of 0.56 · 10 and an ellipsis of 10 fit into 27.
  EXPECT_EQ(fitted("ééééééé", 10, 27), "ééé…");
}

}  // namespace
