import { expect, test } from "vitest";
import { createSystemCallFilter, hasSystemCallFilter } from "./system-calls.ts";

const allow = 0x7fff0000;
const denied = (error: number) => 0x00050000 + error;
const [notPermitted, accessDenied, notImplemented, unsupportedFamily] = [1, 13, 38, 97].map(denied) as [
  number,
  number,
  number,
  number,
];

/** Numbers of calls, from the tables of the kernel: those of x64, and of arm64. */
const numbers = {
  read: [0, 63],
  openat: [257, 56],
  execve: [59, 221],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  setns: [308, 268],
  quotactl: [179, 60],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  io_uring_setup: [425, 425],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  sendto: [44, 206],
  sendmsg: [46, 211],
  ioctl: [16, 29],
  ptrace: [101, 117],
  chmod: [90],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  creat: [85],
  mknod: [133],
  mknodat: [259, 33],
  open: [2],
  openat2: [437, 437],
} as const;
type Name = keyof typeof numbers;

const audits = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Runs a filter as the kernel does, over the data of one call. */
function decide(filter: Buffer, call: number, audit: number, args: readonly number[]): number {
  const words = [call, audit, 0, 0, ...args.flatMap((value) => [value, 0])];
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
    const jump = (isTrue: boolean) => (at += filter.readUInt8(at * 8 + (isTrue ? 2 : 3)));
    if (code === 0x20) loaded = words[value / 4]!;
    else if (code === 0x54) loaded &= value;
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else if (code === 0x06) return value;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the filter does not end");
}

const refused =
  "add_key request_key keyctl bpf perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module delete_module open_by_handle_at name_to_handle_at setns quotactl swapon swapoff reboot acct io_uring_setup".split(
    " ",
  ) as Name[];

for (const [index, arch] of (["x64", "arm64"] as const).entries()) {
  const filter = createSystemCallFilter(arch, { isRoot: false });
  const filterOfRoot = createSystemCallFilter(arch, { isRoot: true });
  const getNumber = (name: Name): number | undefined => numbers[name][index];
  const run = (name: Name, ...args: number[]) => decide(filter, getNumber(name)!, audits[arch], args);
  const runAsRoot = (name: Name, ...args: number[]) => decide(filterOfRoot, getNumber(name)!, audits[arch], args);

  test(`${arch}: what no mount and no namespace covers is refused, and ordinary calls are not`, () => {
    for (const name of refused) expect([name, run(name, 0, 0, 0)]).toEqual([name, notPermitted]);
    for (const name of ["read", "openat", "execve"] as const) expect(run(name, 1, 2, 3)).toBe(allow);
  });

  test(`${arch}: new user namespaces are refused in every way to make one, and other namespaces are not`, () => {
    for (const name of ["clone", "unshare"] as const) {
      expect(run(name, 0x10000000)).toBe(notPermitted);
      expect(run(name, 0x10000000 | 0x20000000 | 17)).toBe(notPermitted);
      expect(run(name, 0x00020000 | 17)).toBe(allow);
    }
    expect(run("clone3", 0)).toBe(notImplemented);
  });

  test(`${arch}: sockets to the hypervisor and typing into terminals are refused`, () => {
    expect(run("socket", 40, 1)).toBe(unsupportedFamily);
    for (const family of [1, 2, 10, 16]) expect(run("socket", family, 1)).toBe(allow);
    for (const request of [0x5412, 0x541c]) expect(run("ioctl", 0, request)).toBe(notPermitted);
    expect(run("ioctl", 0x5412, 0x5413)).toBe(allow);
  });

  test(`${arch}: sockets in the file system take no datagrams, and connections are the helper's business`, () => {
    for (const name of ["socket", "socketpair"] as const) {
      // With and without the flags of a new descriptor.
      for (const flags of [0, 0o4000, 0o2000000]) {
        for (const type of [2, 3]) expect([name, run(name, 1, type | flags)]).toEqual([name, accessDenied]);
        for (const type of [1, 5]) expect([name, run(name, 1, type | flags)]).toEqual([name, allow]);
        expect([name, runAsRoot(name, 1, 2 | flags)]).toEqual([name, accessDenied]);
        for (const family of [2, 10, 16]) expect([name, run(name, family, 2 | flags)]).toEqual([name, allow]);
      }
    }
    for (const name of ["connect", "sendto", "sendmsg"] as const) expect(run(name, 3, 0, 0)).toBe(allow);
  });

  test(`${arch}: the first process cannot be traced, and others can`, () => {
    for (const request of [16, 0x4206]) expect(run("ptrace", request, 1)).toBe(notPermitted);
    for (const pid of [0, 2, 11]) expect(run("ptrace", 16, pid)).toBe(allow);
  });

  const modes = [
    ["chmod", [0]],
    ["fchmod", [0]],
    ["fchmodat", [0, 0]],
    ["fchmodat2", [0, 0]],
    ["creat", [0]],
    ["mknod", [0]],
    ["mknodat", [0, 0]],
    ["open", [0, 0o102]],
    ["openat", [0, 0, 0o101]],
    ["openat", [0, 0, 0o20200002]],
  ] as const;

  test.for(modes.filter(([name]) => getNumber(name) !== undefined))(
    `${arch}: root makes no file that lends others its rights, by %s`,
    ([name, before]) => {
      for (const mode of [0o4755, 0o2755, 0o104000, 0o6000]) {
        expect(runAsRoot(name, ...before, mode)).toBe(notPermitted);
        expect(run(name, ...before, mode)).toBe(allow);
      }
      for (const mode of [0, 0o755, 0o1777, 0o100644]) expect(runAsRoot(name, ...before, mode)).toBe(allow);
    },
  );

  test(`${arch}: the mode of a file that is only opened means nothing`, () => {
    expect(runAsRoot("openat", 0, 0, 0o2, 0o6777)).toBe(allow);
    // A directory that is opened has one of the bits of an unnamed file.
    expect(runAsRoot("openat", 0, 0, 0o200000, 0o6777)).toBe(allow);
    expect(runAsRoot("openat2", 0, 0, 0)).toBe(notImplemented);
    expect(run("openat2", 0, 0, 0)).toBe(allow);
  });

  test(`${arch}: what an ordinary user is refused, root is refused too`, () => {
    for (const name of refused) expect([name, runAsRoot(name, 0, 0, 0)]).toEqual([name, notPermitted]);
    expect(runAsRoot("clone", 0x10000000)).toBe(notPermitted);
    for (const name of ["read", "execve"] as const) expect(runAsRoot(name, 1, 2, 3)).toBe(allow);
  });

  test(`${arch}: calls of another architecture are refused as a whole`, () => {
    expect(decide(filter, numbers.read[index]!, 0x40000003, [])).toBe(notImplemented);
    expect(decide(filter, numbers.read[index]!, audits[arch === "x64" ? "arm64" : "x64"], [])).toBe(notImplemented);
  });
}

test("x64: the calls of the x32 interface are refused", () => {
  const filter = createSystemCallFilter("x64", { isRoot: false });
  expect(decide(filter, 0x40000000 + numbers.read[0], audits.x64, [])).toBe(notImplemented);
  expect(decide(filter, 0x40000000 + 512, audits.x64, [])).toBe(notImplemented);
});

test("there is no filter for other processors", () => {
  expect(["x64", "arm64", "ia32", "toString"].map(hasSystemCallFilter)).toEqual([true, true, false, false]);
});
