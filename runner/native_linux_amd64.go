package runner

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nativeText returns where the native supervisor begins, a program that stands by itself, and
// where what follows it does.
func nativeText() (begin, end unsafe.Pointer)

// nativeImage returns an executable file that holds it alone.
func nativeImage() []byte {
	begin, end := nativeText()
	code := unsafe.Slice((*byte)(begin), uintptr(end)-uintptr(begin))
	const (
		base    = 0x400000
		headers = 64 + 2*56 // the sizes of Header64 and Prog64
	)
	size := uint64(headers + len(code))
	var image bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: base + headers, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Filesz: size, Memsz: size, Align: 0x1000},
		elf.Prog64{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W)},
		code,
	} {
		_ = binary.Write(&image, binary.LittleEndian, part) // fixed sizes, in memory: cannot fail
	}
	return image.Bytes()
}

// nativeProgram returns a path by which this process and its children can execute the
// native supervisor, as long as this process lives.
func nativeProgram() (string, error) {
	self := strconv.Itoa(unix.Getpid())
	if shown, err := os.Readlink("/proc/self"); shown != self {
		return "", fmt.Errorf("/proc shows us as process %q instead of %s: %w", shown, self, errors.Join(err, errors.ErrUnsupported))
	}
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(supervisorName, flags|unix.MFD_EXEC)
	if err == unix.EINVAL { // a kernel before 6.3
		fd, err = unix.MemfdCreate(supervisorName, flags)
	}
	if err != nil {
		return "", err
	}
	image := nativeImage()
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if n, err := unix.Write(fd, image); err != nil || n < len(image) {
		unix.Close(fd)
		return "", fmt.Errorf("write the supervisor's program: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		unix.Close(fd)
		return "", err
	}
	// By our number: the child's own descriptors are being rearranged when it executes this.
	return fmt.Sprintf("/proc/%s/fd/%d", self, fd), nil
}
