/**
 * The filter of system calls for everything inside the sandbox, as the kernel reads it (classic BPF). It refuses what no
 * mount and no namespace covers: new user namespaces, key rings, virtual sockets to the hypervisor, datagrams to sockets in
 * the file system, typing into a terminal, files that run with the rights of root, and interfaces of the kernel that ordinary
 * programs do not use. Pure.
 */

interface Architecture {
  /** The number by which the kernel names it in the data that a filter sees. */
  readonly audit: number;
  readonly calls: Readonly<Record<CallName, number> & Partial<Record<X64CallName, number>>>;
}

/** Refused with any arguments. */
const refused = [
  "add_key",
  "request_key",
  "keyctl",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "open_by_handle_at",
  "name_to_handle_at",
  "setns",
  "quotactl",
  "swapon",
  "swapoff",
  "reboot",
  "acct",
  "io_uring_setup",
] as const;

/** Which argument is the mode of a file. */
const modeArguments = { fchmod: 1, fchmodat: 2, fchmodat2: 2, mknodat: 2 } as const;

/** arm64 has no calls without a directory. */
const x64ModeArguments = { chmod: 1, creat: 1, mknod: 1 } as const;

type CallName =
  | (typeof refused)[number]
  | keyof typeof modeArguments
  | "clone"
  | "clone3"
  | "unshare"
  | "socket"
  | "socketpair"
  | "ioctl"
  | "ptrace"
  | "openat"
  | "openat2";

type X64CallName = keyof typeof x64ModeArguments | "open";

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      kexec_load: 246,
      kexec_file_load: 320,
      init_module: 175,
      finit_module: 313,
      delete_module: 176,
      open_by_handle_at: 304,
      name_to_handle_at: 303,
      setns: 308,
      quotactl: 179,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      acct: 163,
      io_uring_setup: 425,
      clone: 56,
      clone3: 435,
      unshare: 272,
      socket: 41,
      socketpair: 53,
      ioctl: 16,
      ptrace: 101,
      chmod: 90,
      fchmod: 91,
      fchmodat: 268,
      fchmodat2: 452,
      creat: 85,
      mknod: 133,
      mknodat: 259,
      open: 2,
      openat: 257,
      openat2: 437,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      kexec_load: 104,
      kexec_file_load: 294,
      init_module: 105,
      finit_module: 273,
      delete_module: 106,
      open_by_handle_at: 265,
      name_to_handle_at: 264,
      setns: 268,
      quotactl: 60,
      swapon: 224,
      swapoff: 225,
      reboot: 142,
      acct: 89,
      io_uring_setup: 425,
      clone: 220,
      clone3: 435,
      unshare: 97,
      socket: 198,
      socketpair: 199,
      ioctl: 29,
      ptrace: 117,
      fchmod: 52,
      fchmodat: 53,
      fchmodat2: 452,
      mknodat: 33,
      openat: 56,
      openat2: 437,
    },
  },
};

/** Where a filter finds what it decides on. */
const offsets = { call: 0, architecture: 4, argument: (index: number) => 16 + 8 * index };

const op = { load: 0x20, and: 0x54, equals: 0x15, atLeast: 0x35, hasBits: 0x45, return: 0x06 };
const errors = { notPermitted: 1, accessDenied: 13, notImplemented: 38, unsupportedFamily: 97 };
const allow = 0x7fff0000;
const fail = (error: number) => 0x00050000 + error;

const newUserNamespace = 0x10000000;
const virtualSocketFamily = 40;
/** `AF_UNIX`, and the types `SOCK_DGRAM` and `SOCK_RAW`, which the kernel takes for the same. Flags are above the type. */
const localFamily = 1;
const datagramTypes = [2, 3];
const socketTypeBits = 0xf;
const firstProcess = 1;
/** `S_ISUID` and `S_ISGID`: a program with them runs with the rights of its owner or group, whoever starts it. */
const modeBitsOfOthers = 0o6000;
/** `O_CREAT` and `O_TMPFILE`. Without them the mode of `open` means nothing. */
const createBits = 0o100 | 0o20000000;
/** `TIOCSTI` types into a terminal, `TIOCLINUX` pastes into a console. */
const typingRequests = [0x5412, 0x541c];
/** Above are the calls of the x32 interface, which have other numbers for the same things. */
const firstX32Call = 0x40000000;

interface Instruction {
  code: number;
  ifTrue?: number;
  ifFalse?: number;
  value: number;
}

/** Whether there is a filter for processors of this kind (`process.arch`). */
export const hasSystemCallFilter = (arch: string): boolean => Object.hasOwn(architectures, arch);

/**
 * Throws for a processor without one. `isRoot`: whether commands are run by root, whose files must not give others its rights.
 */
export function createSystemCallFilter(arch: string, { isRoot }: { isRoot: boolean }): Buffer {
  const { audit, calls } = architectures[arch]!;
  const load = (offset: number): Instruction => ({ code: op.load, value: offset });
  const end = (value: number): Instruction => ({ code: op.return, value });
  /** Steps for one call, which all others skip. They must end with a decision, or load nothing that later steps need. */
  const forCall = (name: CallName | X64CallName, steps: readonly Instruction[]): Instruction[] => {
    const value = calls[name];
    return value === undefined ? [] : [{ code: op.equals, value, ifFalse: steps.length }, ...steps];
  };
  const unlessArgument = (index: number, code: number, values: readonly number[], error: number): Instruction[] => [
    load(offsets.argument(index)),
    ...values.flatMap((value): Instruction[] => [{ code, value, ifFalse: 1 }, end(fail(error))]),
    end(allow),
  ];
  const unlessMode = (index: number) => unlessArgument(index, op.hasBits, [modeBitsOfOthers], errors.notPermitted);
  /** Each datagram names its receiver in memory, where a filter cannot look. */
  const forLocalDatagrams: Instruction[] = [
    load(offsets.argument(0)),
    { code: op.equals, value: localFamily, ifTrue: 1 },
    end(allow),
    load(offsets.argument(1)),
    { code: op.and, value: socketTypeBits },
    ...datagramTypes.flatMap((value): Instruction[] => [
      { code: op.equals, value, ifFalse: 1 },
      end(fail(errors.accessDenied)),
    ]),
    end(allow),
  ];
  const forOpen = (flagsIndex: number): Instruction[] => [
    load(offsets.argument(flagsIndex)),
    { code: op.hasBits, value: createBits, ifTrue: 1 },
    end(allow),
    ...unlessMode(flagsIndex + 1),
  ];
  const forModes: Instruction[] = [
    ...Object.entries({ ...modeArguments, ...x64ModeArguments }).flatMap(([name, index]) =>
      forCall(name as keyof typeof modeArguments | keyof typeof x64ModeArguments, unlessMode(index)),
    ),
    ...forCall("open", forOpen(1)),
    ...forCall("openat", forOpen(2)),
    // Its mode is in memory. Programs then use `openat`.
    ...forCall("openat2", [end(fail(errors.notImplemented))]),
  ];
  const program: Instruction[] = [
    load(offsets.architecture),
    // Calls of another architecture have other numbers.
    { code: op.equals, value: audit, ifTrue: 1 },
    end(fail(errors.notImplemented)),
    load(offsets.call),
    ...(arch === "x64"
      ? [{ code: op.atLeast, value: firstX32Call, ifFalse: 1 }, end(fail(errors.notImplemented))]
      : []),
    ...refused.flatMap((name) => forCall(name, [end(fail(errors.notPermitted))])),
    // Its flags are in memory, where a filter cannot look. Programs then use `clone`.
    ...forCall("clone3", [end(fail(errors.notImplemented))]),
    ...forCall("clone", unlessArgument(0, op.hasBits, [newUserNamespace], errors.notPermitted)),
    ...forCall("unshare", unlessArgument(0, op.hasBits, [newUserNamespace], errors.notPermitted)),
    ...forCall("socket", [
      load(offsets.argument(0)),
      { code: op.equals, value: virtualSocketFamily, ifFalse: 1 },
      end(fail(errors.unsupportedFamily)),
      ...forLocalDatagrams,
    ]),
    ...forCall("socketpair", forLocalDatagrams),
    ...forCall("ioctl", unlessArgument(1, op.equals, typingRequests, errors.notPermitted)),
    // The one signal that the first process does not ignore is the stop of an attach, after which nothing would ever end.
    ...forCall("ptrace", unlessArgument(1, op.equals, [firstProcess], errors.notPermitted)),
    ...(isRoot ? forModes : []),
    end(allow),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, ifTrue = 0, ifFalse = 0, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
