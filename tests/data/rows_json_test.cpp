// JSON lines as files of rows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "data/rows/chained_rows.hpp"
#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::all_rows;
using test::description;
using test::reader_of;
using test::refusal;
using test::rows_of;
using Rows = std::vector<DataRow>;
using Names = std::vector<std::string>;
using Features = std::vector<RowFeature>;

const RowOptions plain{.format = "jsonl"};

TEST(JsonLinesTest, NumbersAreFeaturesOfTheirKeyAndTextsAreCategories) {
  const auto reader = reader_of("{\"n\":1.5,\"c\":\"red\",\"label\":\"p\"}\n\n{\"c\":\"blue\",\"n\":-2}\n", plain);
  EXPECT_EQ(all_rows(*reader), (Rows{{"p", 1, "", {{0, 0, 1.5F}, {1, row_key("c", "red"), 1}}},
                                     {"", 1, "", {{1, row_key("c", "blue"), 1}, {0, 0, -2}}}}));
  EXPECT_EQ(reader->groups(), (Names{"n", "c"}));
  EXPECT_EQ(reader->place(), "f:3");
}

TEST(JsonLinesTest, BooleansAreNumbersAndNullIsMissing) {
  EXPECT_EQ(rows_of(R"({"t":true,"f":false,"n":null,"m":"NA","e":""})", plain).front().features,
            (Features{{0, 0, 1},
                      {1, 1, 0},
                      {2, row_key("n", "missing"), 1},
                      {3, row_key("m", "missing"), 1},
                      {4, row_key("e", "missing"), 1}}));
  RowOptions given{.format = "jsonl", .missing = {"-"}};
  EXPECT_EQ(rows_of(R"({"m":" - ","e":"NA"})", given).front().features,
            (Features{{0, row_key("m", "missing"), 1}, {1, row_key("e", "NA"), 1}}));
}

TEST(JsonLinesTest, ObjectsWithinObjectsHaveNamesJoinedByDots) {
  const auto reader = reader_of(R"({"user":{"age":3,"home":{"zip":"X"}},"a.b":1,"empty":{}})", plain);
  EXPECT_EQ(all_rows(*reader).front().features,
            (Features{{0, 0, 3}, {1, row_key("user.home.zip", "X"), 1}, {2, 2, 1}}));
  EXPECT_EQ(reader->groups(), (Names{"user.age", "user.home.zip", "a.b"}));
}

TEST(JsonLinesTest, ArraysHoldWordsAndNumbersByPosition) {
  EXPECT_EQ(rows_of(R"({"w":["x","y","x"],"v":[0.5,null,true],"e":[]})", plain).front().features,
            (Features{{0, row_key("w", "x"), 1},
                      {0, row_key("w", "y"), 1},
                      {0, row_key("w", "x"), 1},
                      {1, row_key("v", "0"), 0.5F},
                      {1, row_key("v", "2"), 1}}));
}

TEST(JsonLinesTest, LabelWeightAndIdHaveNamesOfAnyDepth) {
  RowOptions options{.format = "jsonl", .label = "y.is", .weight = "w", .id = "meta.id"};
  const auto reader = reader_of(
      "{\"y\":{\"is\":\"p\"},\"w\":2.5,\"meta\":{\"id\":\"r1\"},\"label\":1}\n"
      "{\"y\":{\"is\":1.50},\"meta\":{\"id\":17}}\n{\"y\":{\"is\":false}}\n{\"y\":{\"is\":null},\"meta\":{\"id\":null}"
      "}",
      options);
  EXPECT_EQ(all_rows(*reader),
            (Rows{{"p", 2.5, "r1", {{0, 0, 1}}}, {"1.50", 1, "17", {}}, {"false", 1, "", {}}, {"", 1, "", {}}}));
  EXPECT_EQ(reader->label(), "y.is");
  EXPECT_EQ(reader->describe(), "JSON lines, label y.is, weight w, id meta.id");
  options = {.format = "jsonl", .labelled = false};
  EXPECT_EQ(rows_of(R"({"label":1})", options).front(), (DataRow{"", 1, "", {{0, 0, 1}}}));
  EXPECT_EQ(reader_of("", options)->label(), "");
  EXPECT_EQ(reader_of("", plain)->label(), "label");
}

TEST(JsonLinesTest, KindsOfKeysCanBeGiven) {
  const RowOptions options{.format = "jsonl", .ignore = {"i"}, .numeric = {"n"}, .categorical = {"c"}};
  EXPECT_EQ(rows_of(R"({"n":" 12 ","c":1.0,"i":{"a":[[1]]}})", options).front().features,
            (Features{{0, 0, 12}, {1, row_key("c", "1.0"), 1}}));
  EXPECT_EQ(rows_of(R"({"n":null,"c":null,"i":1})", options).front().features,
            (Features{{0, row_key("n", "missing"), 1}}));
  EXPECT_EQ(rows_of(R"({"n":["1","NA","3"],"c":[7,true]})", options).front().features,
            (Features{{0, row_key("n", "0"), 1},
                      {0, row_key("n", "2"), 3},
                      {1, row_key("c", "7"), 1},
                      {1, row_key("c", "true"), 1}}));
  EXPECT_EQ(refusal(R"({"n":"old"})", options), R"(f:1:6: got "old" in "n", expected a number)");
  EXPECT_EQ(refusal("", {.format = "jsonl", .label = "a", .weight = "a"}),
            R"(f: got two uses of "a", expected one of label, weight, id, ignored, feature)");
}

TEST(JsonLinesTest, EscapesInNamesAndTextsAreRead) {
  const auto reader =
      reader_of("{\"\\u0061\\n\\\"\":\"\\u00e9\\ud83d\\ude00\",\"label\":\"\\/\"}\n{\"a\\n\\u0022\":1}", plain);
  const Rows rows = all_rows(*reader);
  EXPECT_EQ(rows[0], (DataRow{"/", 1, "", {{0, row_key("a\n\"", "\xC3\xA9\xF0\x9F\x98\x80"), 1}}}));
  EXPECT_EQ(rows[1].features, (Features{{0, 0, 1}}));
  EXPECT_EQ(reader->groups(), Names{"a\n\""});
}

TEST(JsonLinesTest, AFirstLineThatBeginsWithABraceIsJson) {
  for (const std::string text : {"{\"a\":1}", "  {\"a\":\"x | y\", \"b\":2}", "\xEF\xBB\xBF{\"a\":\"1 |x\"}", "{"})
    EXPECT_EQ(description(text, {}), "JSON lines, label label") << text;
  for (const std::string name : {"f.jsonl", "f.ndjson", "f.jsonl.gz"})
    EXPECT_EQ(description("", {}, name), "JSON lines, label label");
  EXPECT_EQ(refusal("[{\"a\":1},\n{\"a\":2}]", {}), "f:1:1: got an array, expected an object");
}

struct Refused {
  const char* line;
  const char* says;
};

TEST(JsonLinesTest, AFaultHasItsColumn) {
  for (const auto& [line, says] : std::vector<Refused>{
           {"12", "1: got \"12\", expected an object"},
           {"  [1]", "3: got an array, expected an object"},
           {"{", "2: got the end of the line, expected a name in double quotes"},
           {R"({"a":1)", "7: got the end of the line, expected a comma or }"},
           {R"({"a":1,})", "8: got }, expected a name in double quotes"},
           {R"({"a" 1})", "6: got \"1\", expected a colon after the name"},
           {R"({a:1})", "2: got \"a\", expected a name in double quotes"},
           {R"({"a":1 "b":2})", "8: got a quote, expected a comma or }"},
           {R"({"a":[1 2]})", "9: got \"2\", expected a comma or ]"},
           {R"({"a":})", "6: got }, expected a value: a number, true, false, null, \", { or ["},
           {R"({"a":nul})", "6: got \"nul\", expected a value: a number, true, false, null, \", { or ["},
           {R"({"a":NaN})", "6: got \"NaN\", expected a number as JSON writes it, or null"},
           {R"({"a":-Infinity})", "6: got \"-Infinity\", expected a number as JSON writes it, or null"},
           {R"({"a":01})", "6: got \"01\", expected a number as JSON writes it, or null"},
           {R"({"a":+1})", "6: got \"+1\", expected a number as JSON writes it, or null"},
           {R"({"a":1.})", "6: got \"1.\", expected a number as JSON writes it, or null"},
           {R"({"a":1e39})", "6: got 1e39 in \"a\", expected a number that a 32-bit float can hold (at most 3.4e38)"},
           {R"({"a":1e999})", "6: got 1e999 in \"a\", expected a number that a 32-bit float can hold (at most 3.4e38)"},
           {R"({"a":1} {"a":2})", "9: got {, expected the end of the line"},
           {R"({"a":1}})", "8: got }, expected the end of the line"},
           {R"({"a":"x)", "6: got the end of the line after this quote, expected a quote that closes it"},
           {R"({"a":1,"b)", "8: got the end of the line after this quote, expected a quote that closes it"},
           {"{\"a\":\"x\ty\"}", "8: got the control character 0x09 in a text, expected \\u0009 for it"},
           {"{\"a\":\"x\\qy\"}",
            "8: got the escape \"\\\\q\", expected \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t or \\u and "
            "four hexadecimal digits"},
           {R"({"a":"\ud800x"})", "7: got half of a pair, \\ud800, expected both halves, high and low"},
           {"{\"a\":\"\xC3\xA9\xC3(\"}", "9: got the byte 0xc3, which is not UTF-8 here, expected text in UTF-8"},
           {"{\"\xFF\":1}", "3: got the byte 0xff, which is not UTF-8 here, expected text in UTF-8"},
           {R"({"a":[1,[2]]})", "9: got an array in \"a\", expected texts, numbers, booleans or null within an array"},
           {R"({"a":[{}]})", "7: got an object in \"a\", expected texts, numbers, booleans or null within an array"},
           {R"({"a":1,"b":2,"a":3})", "14: got the name \"a\" again, expected each name once in a row"},
           {R"({"a":{"b":1},"a.b":3})", "14: got the name \"a.b\" again, expected each name once in a row"},
           {R"({"a":1,"a":{}})", "8: got the name \"a\" again, expected each name once in a row"},
           {R"({"w":-1})", "6: got -1 in \"w\", expected a weight, 0 or more"},
           {R"({"w":"1"})", "6: got \"1\" in \"w\", expected a weight, 0 or more"},
           {R"({"w":null})", "6: got null in \"w\", expected a weight, 0 or more"},
           {R"({"label": [1]})",
            "11: got an array in \"label\", expected a label: a text, a number, true, false or null"},
           {R"({"label":"a\tb"})", "10: got \"a\\\\tb\" in \"label\", expected a text without tabs and line breaks"},
           {R"({"i":true})", "6: got true in \"i\", expected a row's name: a text or a number"},
           {R"({"i":{}})", "6: got an object in \"i\", expected a row's name: a text or a number"},
           {R"({"a\u0000":1})", "2: got a NUL character in a name, expected text"}})
    EXPECT_EQ(refusal(std::string("\n") + line, {.format = "jsonl", .weight = "w", .id = "i"}),
              std::string("f:2:") + says);
}

TEST(JsonLinesTest, DepthNamesAndTheirLengthsAreLimited) {
  const auto deep = [](int depth) {
    std::string text = "1";
    for (int i = 0; i < depth; ++i) text = "{\"a\":" + text + "}";
    return text;
  };
  EXPECT_EQ(refusal(deep(64), plain), "accepted");
  EXPECT_EQ(refusal(deep(65), plain), "f:1:321: got 65 brackets within each other, expected at most 64");
  const RowOptions ignoring{.format = "jsonl", .ignore = {"a"}};
  EXPECT_EQ(refusal(deep(64), ignoring), "accepted");
  EXPECT_EQ(refusal(deep(65), ignoring), "f:1:321: got 65 brackets within each other, expected at most 64");
  std::string many = "{\"label\":1";
  for (int i = 1; i < 65'536; ++i) many += fmt::format(",\"{}\":1", i);
  EXPECT_EQ(refusal(many + "}\n", plain), "accepted");
  EXPECT_EQ(refusal(many + "}\n{\"0\":1}", plain),
            "f:2:2: got one more name, \"0\", expected at most 65536 names of at most 1024 bytes");
  const std::string name(1'025, 'n');
  EXPECT_EQ(refusal("{\"" + name + "\":1}", plain), "f:1:2: got one more name, \"" + name.substr(0, 40) +
                                                        "\"…, expected at most 65536 names of at most 1024 bytes");
}

TEST(JsonLinesTest, BadRowsAreSkippedAndLeaveNoGroup) {
  const auto reader = reader_of("{\"a\":1}\n{\"b\":2,\"a\":x}\n{\"c\":{\"d\":1},\"a\":[[]]}\n{\"e\":1,\"b\":3}\n",
                                {.format = "jsonl", .skip_bad = 2});
  EXPECT_EQ(all_rows(*reader).back().features, (Features{{1, 1, 1}, {2, 2, 3}}));
  EXPECT_EQ(reader->groups(), (Names{"a", "e", "b"}));
  EXPECT_EQ(reader->skipped(), 2u);
  EXPECT_EQ(reader->first_skipped(), "f:2:12: got \"x\", expected a value: a number, true, false, null, \", { or [");
}

using Files = std::vector<std::pair<std::string, std::string>>;  // names, texts

std::unique_ptr<RowReader> chained(const Files& files, const RowOptions& options = {}) {
  Names paths;
  for (const auto& file : files) paths.push_back(file.first);
  const std::map<std::string, std::string> texts(files.begin(), files.end());
  return chained_rows(paths, options, [texts](const std::string& path, const RowOptions& own) {
    return reader_of(texts.at(path), own, path);
  });
}

TEST(JsonLinesTest, FollowACsvFileWithItsColumns) {
  const std::string csv = "id,n,c,skip,w,y\n1,2,red,x,1,p\n2,NA,7,y,2,q\n";
  const RowOptions options{.label = "-1", .weight = "w", .id = "id", .ignore = {"skip"}};
  const auto reader = chained({{"a.csv", csv},
                               {"b.csv", "c,n,id,skip,w,y\nblue,1,9,x,1,p\n"},
                               {"c.jsonl",
                                "{\"y\":\"q\",\"id\":3,\"n\":\"4\",\"c\":7,\"skip\":{\"a\":1},\"new\":1}\n"
                                "{\"n\":null,\"c\":null,\"w\":0.5}\n"},
                               {"d.jsonl", "{\"new\":2,\"n\":1,\"y\":\"p\"}"}},
                              options);
  const Rows rows = all_rows(*reader);
  EXPECT_EQ(Rows(rows.begin() + 2, rows.end()), (Rows{{"p", 1, "9", {{1, row_key("c", "blue"), 1}, {0, 0, 1}}},
                                                      {"q", 1, "3", {{0, 0, 4}, {1, row_key("c", "7"), 1}, {2, 2, 1}}},
                                                      {"", 0.5, "", {{0, row_key("n", "missing"), 1}}},
                                                      {"p", 1, "", {{2, 2, 2}, {0, 0, 1}}}}));
  EXPECT_EQ(reader->groups(), (Names{"n", "c", "new"}));
  EXPECT_EQ(reader->label(), "y");
}

TEST(JsonLinesTest, FollowOnlyFilesWhoseColumnsHaveDifferentNames) {
  const auto says = [](const Files& files) {
    try {
      (void)all_rows(*chained(files, {.header = files[0].second.starts_with("a,") ? Header::yes : Header::automatic}));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string json = "{\"a\":1}";
  EXPECT_EQ(says({{"a.arff", "@relation r\n@attribute a real\n@attribute y {p}\n@data\n1,p\n"}, {"b.jsonl", json}}),
            "accepted");
  EXPECT_EQ(says({{"a.csv", "a,a,y\n1,2,p\n"}, {"b.jsonl", json}}),
            "b.jsonl: got two columns called \"a\", expected one");
  EXPECT_EQ(
      says({{"a.csv", "1,p\n2,q\n"}, {"b.jsonl", json}}),
      "b.jsonl: got JSON lines behind a.csv, expected that file to have a header: keys and columns are matched by "
      "name");
  EXPECT_EQ(says({{"a.svm", "1 1:1\n"}, {"b.jsonl", json}}),
            "b.jsonl: got JSON lines, expected svmlight as in a.svm: files read as one have one format");
  EXPECT_EQ(says({{"a.jsonl", json}, {"b.csv", "a,y\n1,p\n"}}),
            "b.csv: got CSV, expected JSON lines as in a.jsonl: files read as one have one format");
  EXPECT_EQ(says({{"a.csv", "a,y\n1,p\n"}, {"b.jsonl", "{\"a\":\"old\"}"}}),
            "b.jsonl:1:6: got \"old\" in \"a\", expected a number");
}

struct Cell {
  std::string csv, json;
};

Cell random_cell(bool numeric) {
  using namespace rc;
  if (*gen::inRange(0, 5) == 0) return {"NA", *gen::element<std::string>("null", "\"NA\"", "\"?\"")};
  if (numeric) {
    const std::string number = fmt::format("{}", *gen::arbitrary<float>());
    return {number, *gen::element(number, '"' + number + '"')};
  }
  const auto text = "x" + *gen::container<std::string>(gen::inRange<char>(' ', '\x7F'));
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return {'"' + quoted + '"', nlohmann::json(text).dump()};
}

RC_GTEST_PROP(JsonLinesTest, RowsReadAsTheyDoFromCsv, ()) {
  const int columns = *rc::gen::inRange(1, 5), rows = *rc::gen::inRange(1, 6);
  std::string head, csv, json;
  std::vector<bool> numeric;
  RowOptions options{.label = "y"};
  for (int c = 0; c < columns; ++c) {
    numeric.push_back(*rc::gen::arbitrary<bool>());
    head += fmt::format("col {},", c);
    (numeric.back() ? options.numeric : options.categorical).push_back(fmt::format("col {}", c));
  }
  for (int r = 0; r < rows; ++r) {
    json += '{';
    for (int c = 0; c < columns; ++c) {
      const Cell cell = random_cell(numeric[static_cast<std::size_t>(c)]);
      csv += cell.csv + ',';
      json += fmt::format("\"col {}\":{},", c, cell.json);
    }
    csv += fmt::format("{}\n", r % 3);
    json += fmt::format("\"y\":{}}}\n", r % 3);
  }
  head += "y\n";
  options.header = Header::yes;
  const auto whole = reader_of(head + csv, options, "f.csv"), alone = reader_of(json, options, "f.jsonl");
  const Rows expected = all_rows(*whole);
  RC_ASSERT(all_rows(*alone) == expected);
  RC_ASSERT(alone->groups() == whole->groups());
  Rows twice = expected;
  twice.insert(twice.end(), expected.begin(), expected.end());
  RC_ASSERT(all_rows(*chained({{"a.csv", head + csv}, {"b.jsonl", json}}, options)) == twice);
}

const std::vector<std::string>& unusual_lines() {
  static const std::vector<std::string> all{
      R"({"a":1.5e-3,"b":"red","u":{"c":[1,null,true,-0],"d":["x","\u00e9\\"]},"label":"p","w":2,"i":7})",
      "{\"\xC3\xA9\\n\" : \"\xF0\x9F\x98\x80\\ud83d\\ude00\" , \"s\":{\"x\":[[{\"y\":0.10}]]},\"i\":\"r\",\"e\":{}}",
      R"({"n":12345678901234567890123456789,"z":1e-400,"t":false,"label":-1.0E+2,"q":null})"};
  return all;
}

// Another parser of JSON agrees on which lines are JSON; of those only our own rules refuse some, always with a place.
void check_line(const std::string& line) {
  const std::string says = refusal(line, {.format = "jsonl", .weight = "w", .id = "i", .ignore = {"s"}});
  const bool own = says.find(" in \"") != std::string::npos || says.find("again") != std::string::npos ||
                   says.find("expected an object") != std::string::npos || says.find("NUL") != std::string::npos ||
                   says.find("UTF-16") != std::string::npos;
  const bool blank = line.find_first_not_of(" \t\r") == std::string::npos;
  EXPECT_TRUE(says == "accepted" || says.starts_with("f:1:")) << line << '\n' << says;
  EXPECT_TRUE(own || blank || (says == "accepted") == nlohmann::json::accept(line)) << line << '\n' << says;
}

TEST(JsonLinesTest, EveryBeginningIsReadOrRefusedWithItsPlace) {
  for (const std::string& line : unusual_lines())
    for (std::size_t size = 0; size <= line.size(); ++size) check_line(line.substr(0, size));
}

TEST(JsonLinesTest, EveryChangeOfAByteIsReadOrRefusedWithItsPlace) {
  for (const std::string& line : unusual_lines())
    for (std::size_t at = 0; at < line.size(); ++at)
      for (int byte = 0; byte < 256; ++byte) {
        if (byte == '\n') continue;
        std::string changed = line;
        changed[at] = static_cast<char>(byte);
        check_line(changed);
      }
}

}  // namespace
