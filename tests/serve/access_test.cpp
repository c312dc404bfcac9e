#include "serve/access.hpp"

#include <gtest/gtest.h>

namespace obolus::serve {
namespace {

HttpRequest request(std::vector<std::pair<std::string, std::string>> headers, const std::string& path = "/v1/models") {
  HttpRequest made;
  made.method = "GET";
  made.path = path;
  made.headers = std::move(headers);
  return made;
}

int status(const Access& access, const HttpRequest& asked) {
  const auto refusal = access.refuses(asked);
  return refusal ? refusal->status : 200;
}

const Access here{.token = "", .hosts = {"localhost", "127.0.0.1"}, .origins = {"https://good.example"}};
const Access elsewhere{.token = "0123456789abcdef", .hosts = {}, .origins = {}};

TEST(Access, TakesTheNamesOfThisMachineOnly) {
  EXPECT_EQ(status(here, request({{"Host", "localhost:8765"}})), 200);
  EXPECT_EQ(status(here, request({{"host", "127.0.0.1"}})), 200);
  EXPECT_EQ(status(here, request({{"Host", "evil.example:8765"}})), 403);
  EXPECT_EQ(status(here, request({{"Host", "localhost.evil.example"}})), 403);
  EXPECT_EQ(status(here, request({})), 400);
  EXPECT_EQ(status(here, request({{"Host", "localhost"}, {"Host", "evil.example"}})), 400);
}

TEST(Access, PagesOfOtherSitesNeedANamedOrigin) {
  EXPECT_EQ(status(here, request({{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}})), 200);
  EXPECT_EQ(status(here, request({{"Host", "localhost:1"}, {"Origin", "http://localhost:2"}})), 403);
  EXPECT_EQ(status(here, request({{"Host", "localhost:1"}, {"Origin", "null"}})), 403);
  EXPECT_EQ(status(here, request({{"Host", "localhost:1"}, {"Origin", "https://good.example"}})), 200);
}

TEST(Access, OnlyANamedOriginMayReadAnswers) {
  HttpAnswer answer, other;
  here.share(request({{"Origin", "https://good.example"}}), answer);
  here.share(request({{"Origin", "http://localhost:1"}}), other);
  ASSERT_FALSE(answer.headers.empty());
  EXPECT_EQ(answer.headers[0],
            (std::pair<std::string, std::string>("Access-Control-Allow-Origin", "https://good.example")));
  EXPECT_TRUE(other.headers.empty());
}

TEST(Access, ATokenIsAskedForButByMonitors) {
  const std::pair<std::string, std::string> host{"Host", "any.example"};
  EXPECT_EQ(status(elsewhere, request({host})), 401);
  EXPECT_EQ(status(elsewhere, request({host, {"Authorization", "Bearer 0123456789abcdef"}})), 200);
  EXPECT_EQ(status(elsewhere, request({host, {"Authorization", "Bearer 0123456789abcde"}})), 401);
  EXPECT_EQ(status(elsewhere, request({host, {"Authorization", "0123456789abcdef"}})), 401);
  EXPECT_EQ(status(elsewhere, request({host}, "/healthz")), 200);
}

TEST(Access, ATokenInTheAddressOpensThePageAlone) {
  HttpRequest page = request({{"Host", "any.example"}}, "/");
  page.query = {{"token", "0123456789abcdef"}};
  EXPECT_EQ(status(elsewhere, page), 200);
  page.path = "/v1/models";
  EXPECT_EQ(status(elsewhere, page), 401);
}

}  // namespace
}  // namespace obolus::serve
