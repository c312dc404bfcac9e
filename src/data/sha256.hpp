#pragma once

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace obolus {

class Sha256 {
 public:
  using Digest = std::array<unsigned char, 32>;

  Sha256() : context_(EVP_MD_CTX_new()) {
    require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* bytes, std::size_t size) { require(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
  [[nodiscard]] Digest finish() {
    Digest digest;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    return digest;
  }
  [[nodiscard]] std::string finish_in_hexadecimal() {
    std::string text;
    for (const unsigned char byte : finish()) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  };
  static void require(bool done) {
    if (!done) throw std::runtime_error("OpenSSL cannot compute SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace obolus
