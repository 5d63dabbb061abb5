// Package webpage owns how the pages look that our programs write: one style sheet,
// for light, dark and print, a wide screen and a phone.
//
// It never knows what is on a page: what only one of them has is that page's own.
package webpage
