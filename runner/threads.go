package runner

import (
	"runtime"
	"sync"
)

// spareThreads are enough for what a session waits for at once.
const spareThreads = 16

// reserveThreads makes the threads that this program will need. Where attempts take every
// process that the system grants, it could make none, and the runtime of Go ends a program
// that cannot have a thread.
var reserveThreads = sync.OnceFunc(func() {
	var held sync.WaitGroup
	release := make(chan struct{})
	for range spareThreads {
		held.Add(1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			<-release
		}()
	}
	held.Wait()
	close(release)
})
