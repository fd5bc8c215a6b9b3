// Shows an answer while it is decoded.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "tlm/loader/tokenizer.h"
#include "tlm/platform/answer.h"

namespace dvp::platform {

enum class view_mode {
  quiet,   // nothing until the end
  blocks,  // text as blocks complete
  visual   // one line per forward, masks shown, new tokens marked
};

class progress_view {
 public:
  progress_view(std::ostream& out, view_mode mode, bool colour, const loader::tokenizer& tokenizer,
                std::uint32_t mask_token, std::uint32_t end_token);

  void begin(const prompt& request, std::uint32_t prompt_tokens);
  // tokens: the whole buffer as it is now, prompt included.
  void forward(const forward_record& record, std::span<const std::uint32_t> tokens);
  void end();

 private:
  std::string visible(std::uint32_t token) const;
  void stream_text(std::span<const std::uint32_t> tokens, std::uint32_t until);
  void draw(const forward_record& record, std::span<const std::uint32_t> tokens);

  std::ostream& out_;
  view_mode mode_;
  bool colour_;
  const loader::tokenizer& tokenizer_;
  std::uint32_t mask_token_;
  std::uint32_t end_token_;
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t shown_ = 0;  // tokens already printed
  bool ended_ = false;       // an end token was printed
};

}  // namespace dvp::platform
