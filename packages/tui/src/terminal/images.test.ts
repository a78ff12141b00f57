import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { Image } from "../components/image.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { visibleWidth } from "../text/cells.ts";
import { type ImageProtocol, resetCapabilitiesCache, setCapabilities } from "./capabilities.ts";
import { getOsc8LinkAtColumn, hyperlink } from "./hyperlink.ts";
import { getImageDimensions } from "./image-size.ts";
import {
  allocateImageId,
  calculateImageRows,
  deleteAllKittyImages,
  deleteKittyImage,
  encodeITerm2,
  encodeKitty,
  getCellDimensions,
  imageFallback,
  renderImage,
  setCellDimensions,
} from "./images.ts";

const usualCell = getCellDimensions();
afterEach(() => {
  resetCapabilitiesCache();
  setCellDimensions(usualCell);
});

const use = (images: ImageProtocol, hyperlinks = true) => setCapabilities({ images, trueColor: true, hyperlinks });
const theme = { fallbackColor: (text: string) => `\x1b[33m${text}\x1b[39m` };
const size = (widthPx: number, heightPx: number) => ({ widthPx, heightPx });

test("the size of an image is read from the beginning of its file", () => {
  const files: [string, string][] = [
    ["image/png", "89504e470d0a1a0a0000000d4948445200000280000001e0"],
    ["image/gif", "4749463839618002e001"],
    ["image/webp", "52494646000000005745425056503820000000000000009d012a8002e001"],
    ["image/webp", "524946460000000057454250565038580a000000000000007f0200df0100"],
    ["image/webp", "5249464600000000574542505650384c000000002f7fc277000000000000"],
    ["image/jpeg", "ffd8ffe000044a46ffdb0003aaffc200110801e00280030122"],
    // After 16 kB of something else, and with a filler before the marker.
    ["image/jpeg", `ffd8ffe14000${"ab".repeat(0x3f_fe)}ffffc000110801e0028003`],
  ];
  for (const [mimeType, hex] of files) {
    const data = Buffer.from(hex, "hex");
    expect([mimeType, getImageDimensions(data.toString("base64"), mimeType)]).toEqual([mimeType, size(640, 480)]);
    for (let length = 0; length < 10; length++) {
      expect(getImageDimensions(data.subarray(0, length).toString("base64"), mimeType)).toBeNull();
    }
  }
  expect(getImageDimensions(Buffer.from("no image at all, only text").toString("base64"), "image/png")).toBeNull();
  for (const type of ["image/bmp", "constructor", "__proto__"]) expect(getImageDimensions("AAAA", type)).toBeNull();
});

test("Kitty gets an image in commands of at most 4096 characters, and answers none", () => {
  expect(encodeKitty("AAAA")).toBe("\x1b_Ga=T,f=100,q=2;AAAA\x1b\\");
  expect(encodeKitty("AAAA", { columns: 3, rows: 2, imageId: 7, moveCursor: false })).toBe(
    "\x1b_Ga=T,f=100,q=2,C=1,c=3,r=2,i=7;AAAA\x1b\\",
  );
  const commands = encodeKitty("A".repeat(9_000), { imageId: 5 }).split("\x1b\\");
  expect(commands.map((command) => command.replace(/A+$/, (data) => String(data.length)))).toEqual([
    "\x1b_Ga=T,f=100,q=2,i=5,m=1;4096",
    "\x1b_Gm=1;4096",
    "\x1b_Gm=0;808",
    "",
  ]);
  expect([deleteKittyImage(5), deleteAllKittyImages()]).toEqual([
    "\x1b_Ga=d,d=I,i=5,q=2\x1b\\",
    "\x1b_Ga=d,d=A,q=2\x1b\\",
  ]);
});

test("iTerm2 gets an image of any format with its size in bytes", () => {
  expect(encodeITerm2("AAAA")).toBe("\x1b]1337;File=inline=1;size=3:AAAA\x07");
  const options = { width: 3, height: "auto", name: "n é", preserveAspectRatio: false, inline: false };
  expect(encodeITerm2("AAA=", options)).toBe(
    "\x1b]1337;File=inline=0;size=2;width=3;height=auto;name=biDDqQ==;preserveAspectRatio=0:AAA=\x07",
  );
});

test("no data ends the sequence it is in", () => {
  const hostile = "AA\x1b\\\x07\n;AA";
  expect(encodeKitty(hostile)).toBe(encodeKitty("AAAA"));
  expect(encodeITerm2(hostile)).toBe(encodeITerm2("AAAA"));
  expect(stripTerminalSequences(hyperlink("text", "http://x\x07\x1b]0;y"))).toBe("text");
  use(null);
  for (const path of ["a\x1b[31m\n.png", "/a\x1b[31m\n.png"]) {
    expect(stripTerminalSequences(imageFallback("image/png\x1b[2J", undefined, path))).toMatch(/^[ -~]*$/);
  }
});

test("an image is as large as it may be and keeps its shape", () => {
  use("kitty");
  const cells = (widthPx: number, heightPx: number, options = {}) => {
    const image = renderImage("AAAA", size(widthPx, heightPx), options);
    return [image?.columns, image?.rows];
  };
  expect(cells(100, 100)).toEqual([80, 40]);
  expect(cells(1_000, 500, { maxWidthCells: 20 })).toEqual([20, 5]);
  expect(cells(1_000, 500, { maxWidthCells: 20, maxHeightCells: 3 })).toEqual([12, 3]);
  expect(cells(10, 5_000, { maxWidthCells: 20, maxHeightCells: 10 })).toEqual([1, 10]);
  setCellDimensions(size(10, 10));
  expect(cells(100, 100)).toEqual([80, 80]);
  expect([calculateImageRows(size(100, 100), 10), calculateImageRows(size(33, 77), 7)]).toEqual([5, 9]);
  expect(calculateImageRows(size(100, 100), 10, size(10, 10))).toBe(10);
  use(null);
  expect(renderImage("AAAA", size(1, 1))).toBeNull();
});

test("ids of images are in the range of the protocol", () => {
  for (let turn = 0; turn < 100; turn++) expect(allocateImageId()).toBeGreaterThan(0);
  expect(allocateImageId()).toBeLessThan(2 ** 32);
});

test("the line for an image names its file, type and size, with a link to an absolute path", () => {
  use(null, false);
  expect(imageFallback("image/png")).toBe("[Image: [image/png]]");
  expect(imageFallback("image/png", size(1, 2), "a.png")).toBe("[Image: a.png [image/png] 1x2]");
  const path = join(homedir(), "x y.png");
  expect(imageFallback("image/png", undefined, path)).toBe("[Image: ~/x y.png [image/png]]");
  use(null);
  const line = imageFallback("image/png", undefined, path);
  expect(stripTerminalSequences(line)).toBe("[Image: ~/x y.png [image/png]]");
  expect(getOsc8LinkAtColumn(line, 9)).toBe(pathToFileURL(path).href);
});

test("the image component takes the rows of the image: Kitty draws from the first, iTerm2 from the last", () => {
  use("kitty");
  const image = new Image("AAAA", "image/png", theme, {}, size(200, 100));
  expect(image.getImageId()).toBeUndefined();
  const lines = image.render(40);
  expect(lines).toEqual([`\x1b_Ga=T,f=100,q=2,C=1,c=38,r=10,i=${image.getImageId()};AAAA\x1b\\`, ...Array(9).fill("")]);
  expect(image.render(40)).toBe(lines);
  image.invalidate();
  expect(image.render(40)).toEqual(lines);

  use("iterm2");
  const other = new Image("AAAA", "image/jpeg", theme, { maxWidthCells: 10 }, size(200, 100)).render(40);
  expect(other).toEqual(["", "", "\x1b[2A\x1b]1337;File=inline=1;size=3;width=10;height=auto:AAAA\x07"]);
});

test("the image component is at most as high as it may be wide, unless a height is given", () => {
  use("kitty");
  const getRows = (options: object) =>
    new Image("AAAA", "image/png", theme, options, size(10, 1_000)).render(200).length;
  expect([getRows({}), getRows({ maxWidthCells: 10 }), getRows({ maxHeightCells: 45 })]).toEqual([30, 5, 45]);
});

test("the image component is one line of text where the terminal could not show the image", () => {
  for (const [protocol, mimeType] of [
    [null, "image/png"],
    ["kitty", "image/jpeg"],
  ] as const) {
    use(protocol);
    const image = new Image("AAAA", mimeType, theme, { filename: "f" }, size(200, 100));
    expect(image.render(60)).toEqual([`\x1b[33m[Image: f [${mimeType}] 200x100]\x1b[39m`]);
    expect(image.render(8).map(visibleWidth)).toEqual([8]);
  }
});

test("a link is found by the columns that its text is in", () => {
  const line = `${hyperlink("héllo", "http://a")} \x1b[31m${hyperlink("日", "http://b")}\x1b[0m\x1b]8;id=3;http://c\x07z\x1b]8;;\x07.`;
  const a = "http://a";
  expect(Array.from({ length: 11 }, (_unused, index) => getOsc8LinkAtColumn(line, index - 1))).toEqual([
    undefined,
    a,
    a,
    a,
    a,
    a,
    undefined,
    "http://b",
    "http://b",
    "http://c",
    undefined,
  ]);
});
