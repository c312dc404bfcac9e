// The exponent p of regret ~ t^p: least squares of log regret on log t over the second half of the decades that the
// rounds span. Rounds without positive regret have no logarithm and are left out; fewer than three give no slope.
export function logLogSlope(t: ArrayLike<number>, regret: ArrayLike<number>): number {
  let first = 0;
  while (first < t.length && !(t[first] > 0)) first++;
  if (t.length - first < 3) return NaN;
  const middle = (Math.log(t[first]) + Math.log(t[t.length - 1])) / 2;
  let n = 0;
  let meanX = 0;
  let meanY = 0;
  let xx = 0;
  let xy = 0;
  for (let i = first; i < t.length; i++) {
    const x = Math.log(t[i]);
    if (x < middle || !(regret[i] > 0)) continue;
    n++;
    const dx = x - meanX;
    meanX += dx / n;
    meanY += (Math.log(regret[i]) - meanY) / n;
    xx += dx * (x - meanX);
    xy += dx * (Math.log(regret[i]) - meanY);
  }
  return n >= 3 && xx > 0 ? xy / xx : NaN;
}
