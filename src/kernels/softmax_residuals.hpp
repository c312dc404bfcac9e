// Logits to residuals, for one instruction set: softmax and its differences, row by row.

// 1 in lanes that are classes, 0 in those that pad a row.
template <class S>
OBOLUS_INLINE Pack<S> class_mask(int pack, int classes) {
  Pack<S> mask{};
  for (int i = 0; i < lanes<S>; ++i) mask[i] = pack * lanes<S> + i < classes ? S(1) : S(0);
  return mask;
}

// p ← softmax(scale · l), 0 in the padding.
template <class S, int N>
OBOLUS_INLINE void softmax(const Pack<S>* l, S scale, int n, int classes, Pack<S>* p) {
  constexpr S far = S(1e30);
  Pack<S> most = Pack<S>{} - far;
  for (int v = 0; v < n; ++v) {
    const Pack<S> mask = v == n - 1 ? class_mask<S>(v, classes) : Pack<S>{} + S(1);
    p[v] = scale * l[v] * mask - (S(1) - mask) * far;
    most = p[v] > most ? p[v] : most;
  }
  const S top = largest<S>(most);
  Pack<S> sum{};
  for (int v = 0; v < n; ++v) {
    p[v] = exponential<S>(p[v] - top);
    if (v == n - 1) p[v] *= class_mask<S>(v, classes);
    sum += p[v];
  }
  const S inverse = S(1) / total<S>(sum);
  for (int v = 0; v < n; ++v) p[v] *= inverse;
}

// The change of softmax from logits with probabilities p to logits larger by d: p (e − m)/(1 + m), e = expm1(d − <p, d>),
// m = <p, e>. Nothing cancels when d is small.
template <class S, int N>
OBOLUS_INLINE void softmax_change(const Pack<S>* p, const Pack<S>* d, S factor, int n, Pack<S>* change) {
  Pack<S> sum{};
  for (int v = 0; v < n; ++v) sum += p[v] * d[v];
  const S centre = total<S>(sum) * factor;
  sum = Pack<S>{};
  for (int v = 0; v < n; ++v) {
    change[v] = exponential_minus_one<S>(factor * d[v] - centre);
    sum += p[v] * change[v];
  }
  const S mean = total<S>(sum), inverse = S(1) / (S(1) + mean);
  for (int v = 0; v < n; ++v) change[v] = p[v] * (change[v] - mean) * inverse;
}

template <class S, int N>
void residuals(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& it, int k, int rows,
               Weights w) {
  const int n = pack_count<S, N>(it.stride);
  for (int r = first; r < last; ++r) {
    S* l = it.logits + (std::size_t(k) * rows + r) * it.stride;
    const S weight = S(r < inner ? w.inner : w.outer), scale = S(r < inner ? 1.0 : w.scale);
    Pack<S> p[buffer_packs<S, N>];
    softmax<S, N>(packs(l), scale, n, it.classes, p);
    for (int v = 0; v < n; ++v) packs(l)[v] = weight * p[v];
    l[label[r]] -= weight;
  }
}

template <class S, int N>
void residuals_dual(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& z,
                    const IterateView<S>& w, int k, int rows, double lambda, Weights z_weights, Weights w_weights) {
  const int n = pack_count<S, N>(z.stride);
  const S part = S(1.0 / lambda);
  for (int r = first; r < last; ++r) {
    S* lz = z.logits + (std::size_t(k) * rows + r) * z.stride;
    S* lw = w.logits + (std::size_t(k) * rows + r) * w.stride;
    Pack<S> p[buffer_packs<S, N>], q[buffer_packs<S, N>];
    if (r < inner) {
      softmax<S, N>(packs(lz), S(1), n, z.classes, p);
      softmax_change<S, N>(p, packs(lw), part, n, q);
      const S a = S(z_weights.inner), b = S(w_weights.inner);
      for (int v = 0; v < n; ++v) packs(lz)[v] = a * p[v], packs(lw)[v] = b * q[v];
      lz[label[r]] -= a;
    } else {
      for (int v = 0; v < n; ++v) q[v] = packs(lz)[v] + part * packs(lw)[v];
      softmax<S, N>(q, S(w_weights.scale), n, z.classes, p);
      const S b = S(w_weights.outer);
      for (int v = 0; v < n; ++v) packs(lw)[v] = b * p[v];
      lw[label[r]] -= b;
    }
  }
}

template <class S, int N>
void residuals_central(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& c,
                       const IterateView<S>& w, int k, int rows, double lambda, Weights up, Weights down) {
  const int n = pack_count<S, N>(c.stride);
  const S part = S(1.0 / lambda), all = S(lambda);
  for (int r = first; r < last; ++r) {
    S* lc = c.logits + (std::size_t(k) * rows + r) * c.stride;
    S* lw = w.logits + (std::size_t(k) * rows + r) * w.stride;
    Pack<S> p[buffer_packs<S, N>], q[buffer_packs<S, N>], s[buffer_packs<S, N>];
    if (r < inner) {
      softmax<S, N>(packs(lc), S(1), n, c.classes, p);
      softmax_change<S, N>(p, packs(lw), part, n, q);
      softmax_change<S, N>(p, packs(lw), -part, n, s);
      const S a = S(up.inner);
      for (int v = 0; v < n; ++v) {
        packs(lc)[v] = a * (p[v] + S(0.5) * (q[v] + s[v]));
        packs(lw)[v] = all * a * S(0.5) * (q[v] - s[v]);
      }
      lc[label[r]] -= a;
    } else {
      const S a = S(up.outer), b = S(down.outer);
      for (int v = 0; v < n; ++v) {
        const Pack<S> centre = packs(lc)[v], change = part * packs(lw)[v];
        q[v] = centre + change, s[v] = centre - change;
      }
      softmax<S, N>(q, S(up.scale), n, c.classes, p);
      softmax<S, N>(s, S(down.scale), n, c.classes, q);
      for (int v = 0; v < n; ++v) {
        packs(lc)[v] = S(0.5) * (a * p[v] - b * q[v]);
        packs(lw)[v] = all * S(0.5) * (a * p[v] + b * q[v]);
      }
      lc[label[r]] -= S(0.5) * (a - b);
      lw[label[r]] -= all * S(0.5) * (a + b);
    }
  }
}

template <class S, int N>
void scale_slope(const std::int32_t* label, int first, int last, const IterateView<S>& it, const S* logits,
                 const S* other, double b, double s, double* slope, double* curvature) {
  const int n = pack_count<S, N>(it.stride);
  for (int r = first; r < last; ++r) {
    Pack<S> l[buffer_packs<S, N>], p[buffer_packs<S, N>];
    const Pack<S>* row = packs(logits + std::size_t(r) * it.stride);
    for (int v = 0; v < n; ++v) l[v] = row[v];
    S own = logits[std::size_t(r) * it.stride + label[r]];
    if (other) {
      const Pack<S>* more = packs(other + std::size_t(r) * it.stride);
      for (int v = 0; v < n; ++v) l[v] += S(b) * more[v];
      own += S(b) * other[std::size_t(r) * it.stride + label[r]];
    }
    softmax<S, N>(l, S(s), n, it.classes, p);
    Pack<S> mean{}, square{};
    for (int v = 0; v < n; ++v) mean += p[v] * (l[v] - own), square += p[v] * (l[v] - own) * (l[v] - own);
    const double m = double(total<S>(mean));
    *slope += m;
    *curvature += double(total<S>(square)) - m * m;
  }
}
