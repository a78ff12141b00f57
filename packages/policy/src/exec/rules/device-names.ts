/** Names of devices. Pure. */

const disks =
  /^\/dev\/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d|sr\d|st\d|nbd\d|ram\d|zram\d|pmem\d|disk\/|mapper\/|block\/|root$|vg\w*\/|zd\d|dasd[a-z]|bcache\d|sd\uFFFF|nvme\uFFFF|[shv]d[*?[]|nvme[*?[]|xvd[*?[])/;
const memory =
  /^\/dev\/(?:k?mem|port|nvram|watchdog\d?|kmsg|cpu\/|hpet|rtc\d?|fb\d|mtd\w*|raw\/|sg\d|bsg\/|i2c-\d|vhci|uinput|input\/|efi_capsule_loader|mapper$)/;

export const isRawDisk = (path: string): boolean => disks.test(path);

/** A disk, the memory of the machine or another device that must not be written to. */
export const isRawDevice = (path: string): boolean => disks.test(path) || memory.test(path);
