// histogram.h: counts of times, fine enough for percentiles and small enough to stay in the cache.
//
// Times below 64 ns have a bucket each; above, each power of two is cut into 64, so a bucket is at most 1.6 % wide.
#ifndef WEFT_BENCH_LOAD_HISTOGRAM_H
#define WEFT_BENCH_LOAD_HISTOGRAM_H

#include <stdint.h>

enum { kSteps = 64, kStepBits = 6, kBuckets = (64 - kStepBits + 1) * kSteps };

struct histogram {
  uint64_t counts[kBuckets];
};

static inline unsigned bucket_of(uint64_t ns) {
  if (ns < kSteps) return (unsigned)ns;
  const unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - kStepBits;
  return (shift + 1) * kSteps + (unsigned)((ns >> shift) - kSteps);
}

// The middle of a bucket.
static inline double ns_of(unsigned bucket) {
  if (bucket < kSteps) return bucket;
  const unsigned shift = bucket / kSteps - 1;
  return ((double)(kSteps + bucket % kSteps) + 0.5) * (double)(UINT64_C(1) << shift);
}

static inline void add_time(struct histogram* h, uint64_t ns) { ++h->counts[bucket_of(ns)]; }

static inline void merge(struct histogram* into, const struct histogram* from) {
  for (unsigned i = 0; i < kBuckets; ++i) into->counts[i] += from->counts[i];
}

// The time that `share` of all do not exceed; 0 when there are none.
static inline double percentile_ns(const struct histogram* h, double share) {
  uint64_t all = 0, seen = 0;
  for (unsigned i = 0; i < kBuckets; ++i) all += h->counts[i];
  for (unsigned i = 0; i < kBuckets && all > 0; ++i) {
    seen += h->counts[i];
    if ((double)seen >= share * (double)all) return ns_of(i);
  }
  return 0;
}

#endif
