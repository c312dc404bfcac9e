"""Predict, then learn; a label is there `stream.delay` rows later."""

import time

import numpy


def prequential(stream, predict, learn, seconds, batch=1):
    """What predict(first, last) says of rows first … last - 1, each before learn(first, last) has it, until the
    seconds of a processor are over."""
    stop, told = time.process_time() + seconds, []
    for first in range(0, len(stream), batch):
        if time.process_time() > stop:
            break
        last = min(first + batch, len(stream))
        told.extend(predict(first, last))
        labelled = max(0, first - stream.delay), max(0, last - stream.delay)
        if labelled[0] < labelled[1]:
            learn(*labelled)
    return numpy.array(told)
