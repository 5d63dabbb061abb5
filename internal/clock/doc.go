// Package clock owns the three kinds of time that the project runs on.
//
//   - [Real] is the machine's clock.
//   - [Virtual] walks: whoever waits on it moves it. It belongs to one actor at
//     a time, which is why every embedded case has a clock of its own.
//   - [Manual] stands still until somebody moves it. It serves several programs
//     at once (fifoproof serve --clock virtual).
//
// The package never decides what a moment means: windows, leases and time-outs
// belong to the packages that ask.
package clock
