// The pacer's arithmetic, as package gcmodel has it: runtime/mgcpacer.go, Go
// 1.19 to 1.27. A test compares the two.

const minimumHeap = 4 * 1024 * 1024; // defaultHeapMinimum
const minimumRunway = (1024 + 64) * 1024; // sweepMinHeapDistance and minRunway
const reserveShare = 0.03; // memoryLimitHeapGoalHeadroomPercent
const reserveLeast = 1024 * 1024; // memoryLimitMinHeapGoalHeadroom

function limitGoal(w, s) {
  const goal = s.limit - w.non_heap;
  if (goal <= 0) return 0;
  const reserve = Math.max(goal * reserveShare, reserveLeast);
  return Math.max(goal - reserve, reserve);
}

// headroom is how many bytes the program allocates between two collections
// under a setting {gogc, limit, ballast}; Infinity when it never collects, 0 or
// less when the limit leaves no room. gogc is -1 for off, limit 0 for none.
export function headroom(w, s) {
  const marked = w.live + s.ballast;
  let room = Infinity;
  if (s.gogc >= 0) {
    const g = s.gogc / 100;
    room = Math.max(g * (marked + w.roots), minimumHeap * g - marked);
  }
  const limited = s.limit > 0 ? limitGoal(w, s) - marked : Infinity;
  return limited < room ? limited : Math.max(room, minimumRunway);
}

// outcome is what the collector costs under a setting: the heap goal, the Go
// memory with it, collections as a part of today's, and its CPU as an interval
// of shares. It is null when there is no steady state.
export function outcome(w, s) {
  const now = headroom(w, { gogc: w.gogc, limit: w.limit, ballast: w.ballast }), then = headroom(w, s);
  if (!Number.isFinite(now) || !Number.isFinite(then) || then <= 0) return null;
  const left = now / then, [value, low, high] = w.collected;
  return { goal: w.live + s.ballast + then, memory: w.live + s.ballast + then + w.non_heap, cycles: left, cpu: { value: value * left, low: low * left, high: high * left }, room: then };
}
