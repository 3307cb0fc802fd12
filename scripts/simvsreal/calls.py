# SPDX-License-Identifier: MIT
"""The calls that tied-client bench makes, drawn again, so that the simulator can be given the same.

Arrivals and service times are functions of the seed: client/app/bench_load.c, replica/app/work.c,
lib/base/prng.c, lib/tools/dist.c. That this page agrees with them is checked at each run by the
number of calls and by their mean service time.
"""
import math
import re

MASK = 2**64 - 1


def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def xoshiro(seed):
    s = [mix(seed + i * 0x9e3779b97f4a7c15 & MASK) for i in range(1, 5)]
    while True:
        product = s[1] * 5 & MASK
        yield (product << 7 | product >> 57) * 9 & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = (s[3] << 45 | s[3] >> 19) & MASK


class Service:
    def __init__(self, text):
        self.text = text
        exponential = re.fullmatch(r"exp\(([\d.]+)ms\)", text)
        bimodal = re.fullmatch(r"bimodal\(([\d.]+)ms,([\d.]+)ms,(0?\.\d+)\)", text)
        if exponential:
            self.mean_ms = float(exponential[1])
            self.at = lambda upper: -self.mean_ms * math.log(upper)
        elif bimodal:
            short, long, share = (float(x) for x in bimodal.groups())
            self.mean_ms = short + (long - short) * share
            self.at = lambda upper: long if upper <= share else short
        else:
            raise ValueError(f"{text}: write exp(MEAN) or bimodal(SHORT,LONG,P), in ms")

    def draw(self, key):
        """Of the call with this number; mixed once by the client, once by the replica."""
        random_bits = mix(mix(key & MASK))
        return self.at((float(random_bits ^ MASK) + 0.5) * 2.0**-64)


def slice_of(service, rate, seed, seconds):
    """Times and service times in ms of the calls of one slice of tied-client bench."""
    gaps, calls, at, end = xoshiro(seed), [], 0, round(seconds * 1e9)
    while True:
        at += int(-math.log(((next(gaps) >> 11) + 0.5) * 2.0**-53) * 1e9 / rate)
        if at >= end:
            return calls
        calls.append((at / 1e6, service.draw(seed + len(calls))))
