// Package awserr owns how errors of the AWS SDK are read and told: without the
// SDK's frame, and with the codes that ask for patience.
//
// It never decides what to do about an error.
package awserr
