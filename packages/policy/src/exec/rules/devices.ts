/** Disks and other devices. */
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { readFile, writeFile } from "../shell/files.ts";
import { limitOptions, type Text } from "../shell/text.ts";
import { isRawDisk } from "./device-names.ts";
import { judgeCopy } from "./copy.ts";
import { addLink, moveLinks } from "./links.ts";
import { judgeWrite } from "./write.ts";

/** What formats a disk writes to a device; only what erases it wipes it, by the ten names. */
const writesDevice = { dangerousCommandClass: "device_write" } as const;
const erasers = /^(?:wipefs|blkdiscard|badblocks|scrub|nwipe)$/;

const dd: Judge = ({ args }, scope) => {
  const find = (name: string): Text[] =>
    args.flatMap((arg) => (arg.text.startsWith(name) ? [{ ...arg, text: arg.text.slice(name.length) }] : []));
  const sources = find("if=");
  const content = sources.length > 0 ? sources.flatMap((file) => readAll(file, scope)) : scope.stdin;
  const outputs = find("of=");
  for (const path of outputs.flatMap((output) => resolveAll(output, scope))) {
    if (isRawDisk(path)) report(scope, "critical", "disk_wipe", `It overwrites the device ${path}.`, writesDevice);
    else judgeWrite(path, scope);
    writeFile(path, content, scope);
  }
  return outputs.length > 0 ? undefined : limitOptions(content);
};

const readAll = (file: Text, scope: Scope) => resolveAll(file, scope).flatMap((path) => readFile(path, scope));

/** Programs that write a new structure to a disk. On an image in the workspace they are harmless. */
const format: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const paths = getOperands(args).flatMap((arg) => (arg.text.includes("/") ? resolveAll(arg, scope) : []));
  if (paths.some((path) => path.startsWith("/dev/"))) {
    const details = erasers.test(name) ? {} : writesDevice;
    report(scope, "critical", "disk_wipe", `${name} destroys what is on a disk.`, details);
  } else if (args.length > 0) for (const path of paths) judgeWrite(path, scope);
};

const readsOnly =
  /^(?:-l|-p|--list|--print|print|-x|--dump|-d|status|luksDump|isLuks|-i|-I|list|smart-log|id-ctrl|show|display|info|get|-n|--no-act|--show.*)$/;

/** Programs that manage disks, pools and volumes. */
const manage: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.length === 0 || args.some(({ text }) => readsOnly.test(text))) return;
  report(scope, "critical", "disk_wipe", `${name} changes disks or volumes.`, writesDevice);
};

const destroy: Judge = ({ name, args }, scope) => {
  const isDestructive = args.some(({ text }) =>
    /^(?:destroy|delete|erase\w*|secureErase|partitionDisk|reformat|zeroDisk|randomDisk|format|sanitize|write-zeroes|luksFormat|luksErase|erase|reencrypt|resize|labelclear|remove|remove_all|create|--security-erase\S*|--trim-sector-ranges|--write-sector|--zero-superblock|subvolume)$/.test(
      text,
    ),
  );
  if (isDestructive) report(scope, "critical", "disk_wipe", `${name} destroys what is on a disk.`);
};

const copy: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "abdfiHlLnpPrRsS:t:TuvxXZc",
    long: "archive attributes-only backup=? force interactive link dereference no-clobber no-dereference parents preserve=? no-preserve= recursive reflink=? remove-destination sparse= strip-trailing-slashes symbolic-link suffix= target-directory= no-target-directory update=? verbose one-file-system context=?",
  });
  const [directory] = options.get("t", "target-directory");
  const target = directory ?? options.operands.at(-1);
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  if (!target || sources.length === 0) return;
  judgeCopy(sources, target, scope);
  const isSymbolic = options.has("s", "symbolic-link");
  for (const source of sources) {
    if (isSymbolic || options.has("l", "link")) addLink({ source, target, isSymbolic }, scope);
    else if (options.has("P", "d", "a", "archive", "no-dereference")) moveLinks(source, target, scope);
  }
};

/** `tee` writes what it reads, and passes it on. */
const tee: Judge = (invocation, scope) => {
  writeOperands(invocation, scope);
  for (const operand of getOperands(invocation.args))
    for (const path of resolveAll(operand, scope)) writeFile(path, scope.stdin, scope);
  return scope.stdin;
};

const writeOperands: Judge = ({ args }, scope) => {
  for (const operand of getOperands(args)) for (const path of resolveAll(operand, scope)) judgeWrite(path, scope);
};

export const deviceRules: Judges = {
  ...forNames("dd gdd dcfldd dc3dd ddrescue", dd),
  ...forNames(
    "mkfs mke2fs mkswap mkdosfs mkntfs wipefs blkdiscard badblocks newfs newfs_apfs cfdisk sfdisk scrub nwipe mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mkfs.minix mkfs.exfat mkfs.jfs mkfs.reiserfs mkfs.msdos mkfs.cramfs mkfs.bfs mkfs.erofs mkfs.zfs tune2fs resize2fs e2fsck fsck",
    format,
  ),
  ...forNames(
    "fdisk gdisk sgdisk parted pvremove vgremove lvremove pvcreate vgcreate lvcreate lvreduce mdadm partx",
    manage,
  ),
  ...forNames("cryptsetup zfs zpool btrfs diskutil nvme hdparm dmsetup", destroy),
  ...forNames("cp gcp ditto", copy),
  ...forNames("truncate touch fallocate rename prename", writeOperands),
  ...forNames("tee gtee sponge", tee),
};
