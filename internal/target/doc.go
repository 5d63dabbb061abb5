// Package target owns the way to an SQS endpoint: the AWS configuration of all
// programs, the queue that a name or URL stands for, who it is that answers, and
// what that endpoint lacks.
//
// A program reaches whatever the AWS SDK's own environment and profiles name. On
// a loopback endpoint, where credentials prove nothing, missing ones are replaced
// by test ones, and the program says so.
//
// Amazon SQS itself is opened by [OpenAWS] alone, which invents no credentials, asks
// whose they are, and never takes another endpoint for AWS.
//
// The package never makes a verdict, knows no case, and never deletes or changes
// a queue but those that [Target.Probe] makes for its own questions.
package target
