// Which places of a block's windows passed, in the two forms that backward passes need: by channel, and by window and
// place.
#pragma once

#include "kernels/network/forward.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// A gradient's list carries the flow itself where it fits: one read less per place.
template <class S>
constexpr bool carries = sizeof(S) == sizeof(std::int32_t);
template <class S>
OBOLUS_INLINE S flow_itself(const Passed& one, const S* flows) {
  if constexpr (carries<S>) return __builtin_bit_cast(S, one.flow);
  else return flows[one.flow];
}

#if OBOLUS_PACK == 64 && defined(__AVX512F__)
// list_by_channel, a pack of channels at a time: each entry goes to the end of its channel's list.
template <class S, bool carry>
void list_packs(const Block<S>& k, Part<S>& part, std::size_t start, int windows) {
  constexpr int P = lanes<S>;
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                one = _mm512_set1_epi32(1);
  const __m512i room = _mm512_set1_epi32(k.group * k.windows()), across = _mm512_set1_epi32(P),
                down = _mm512_set1_epi32(k.padded_width() * P);
  for (int o = 0; o < k.out; o += P) {
    const __m512i first = _mm512_mullo_epi32(_mm512_add_epi32(steps, _mm512_set1_epi32(o)), room);
    __m512i end = first;
    for (int t = 0; t < windows; ++t) {
      const std::size_t i = start + std::size_t(t * k.out + o);
      const __mmask16 on = _mm512_cmp_ps_mask(_mm512_loadu_ps(k.pooled + i), _mm512_setzero_ps(), _CMP_GT_OQ);
      const __m512i who = reinterpret_cast<__m512i>(load_places<S>(k.winner + i));
      const __m512i corner = _mm512_set1_epi32(part.corner[t]);
      const __m512i place =
          _mm512_add_epi32(_mm512_mask_add_epi32(corner, _mm512_test_epi32_mask(who, one), corner, across),
                           _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(who, _mm512_set1_epi32(2)), down));
      const __m512i flow = carry ? _mm512_loadu_si512(part.flow + t * k.out + o)
                                 : _mm512_add_epi32(steps, _mm512_set1_epi32(t * k.out + o));
      // Pairs of (place, flow), eight at a time.
      const __m512i all = _mm512_movm_epi32(on), zero = _mm512_setzero_si512();
      _mm512_mask_i64scatter_epi64(part.list, _mm512_movepi64_mask(_mm512_unpacklo_epi32(all, all)),
                                   _mm512_unpacklo_epi32(end, zero), _mm512_unpacklo_epi32(place, flow), 8);
      _mm512_mask_i64scatter_epi64(part.list, _mm512_movepi64_mask(_mm512_unpackhi_epi32(all, all)),
                                   _mm512_unpackhi_epi32(end, zero), _mm512_unpackhi_epi32(place, flow), 8);
      end = _mm512_mask_add_epi32(end, on, end, one);
    }
    _mm512_storeu_si512(part.count + o, _mm512_sub_epi32(end, first));
  }
}
#endif

// By channel: where in the first slab of the images. A list has room for every window of a group.
template <class S, bool carry>
void list_by_channel(const Block<S>& k, Part<S>& part, std::size_t start, int windows) {
  const int room = k.group * k.windows();
  const int down = k.padded_width() * lanes<S>, places[4] = {0, lanes<S>, down, down + lanes<S>};
  find_corners(k, part, windows);
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
  if constexpr (sizeof(S) == 4) return list_packs<S, carry>(k, part, start, windows);
#endif
  for (int o = 0; o < k.own_out; ++o) {
    Passed* list = part.list + o * room;
    const S* p = k.pooled + start + o;
    const std::uint8_t* who = k.winner + start + o;
    int n = 0;
    for (int t = 0; t < windows; ++t, p += k.out, who += k.out) {
      std::int32_t flow = t * k.out + o;
      if constexpr (carry) flow = __builtin_bit_cast(std::int32_t, part.flow[flow]);
      list[n] = {part.corner[t] + places[*who], flow};
      n += *p > 0;
    }
    part.count[o] = n;
  }
}

// By window and place: a bit for every channel that passed there, 64 per word.
template <class S>
OBOLUS_INLINE int words_of(const Block<S>& k) {
  return (k.out + 63) / 64;
}
template <class S>
void mark_places(const Block<S>& k, Part<S>& part, std::size_t start, int windows) {
  constexpr int P = lanes<S>;
  const int words = words_of(k);
  std::uint64_t* passed = part.passed;
  for (int t = 0; t < windows; ++t)
    for (int word = 0; word < words; ++word, passed += 4) {
      const std::size_t first = start + std::size_t(t * k.out + 64 * word);
      std::uint64_t bits[4] = {};
      for (int o = 0; o < 64 && 64 * word + o < k.out; o += P) {
        const Bits<S> who = load_places<S>(k.winner + first + o);
        const Bits<S> on = at(k.pooled + first + o) > 0;
#pragma GCC unroll 4
        for (int p = 0; p < 4; ++p) bits[p] |= signs<S>(on & (who == p)) << o;
      }
      for (int p = 0; p < 4; ++p) passed[p] = bits[p];
    }
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
