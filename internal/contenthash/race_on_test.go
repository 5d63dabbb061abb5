//go:build race

package contenthash

// underRace is true where the race detector makes times and allocations mean
// nothing.
const underRace = true
