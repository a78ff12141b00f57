/** The outlines of a TrueType font, drawn as coverage of pixels. */
import { readFileSync } from "node:fs";

/** How many points each pixel is looked at, in each direction. */
const samples = 4;

export function openFont(path) {
  const file = readFileSync(path);
  const tables = new Map();
  for (let index = 0; index < file.readUInt16BE(4); index++) {
    const entry = 12 + index * 16;
    tables.set(file.toString("latin1", entry, entry + 4), file.readUInt32BE(entry + 8));
  }
  const unitsPerEm = file.readUInt16BE(tables.get("head") + 18);
  const isLong = file.readInt16BE(tables.get("head") + 50) === 1;
  const metrics = { ascent: file.readInt16BE(tables.get("hhea") + 4), advance: file.readUInt16BE(tables.get("hmtx")) };
  const findGlyph = createLookup(file, tables.get("cmap"));
  const offsetOf = (glyph) => {
    const loca = tables.get("loca");
    return isLong ? file.readUInt32BE(loca + glyph * 4) : file.readUInt16BE(loca + glyph * 2) * 2;
  };
  /** Closed lines through points in units of the font. */
  const readOutlines = (glyph) => {
    if (offsetOf(glyph) === offsetOf(glyph + 1)) return [];
    const start = tables.get("glyf") + offsetOf(glyph);
    const count = file.readInt16BE(start);
    return count >= 0 ? readSimple(file, start, count) : readComposite(file, start, readOutlines);
  };
  /** Coverage from 0 to 1 of `width` × `height` pixels; undefined if the font does not have the character. */
  const draw = (character, { size, width, height }) => {
    const glyph = findGlyph(character.codePointAt(0));
    if (glyph === 0) return undefined;
    const scale = size / unitsPerEm;
    const baseline = Math.round(metrics.ascent * scale);
    const outlines = readOutlines(glyph).map((points) => points.map(([x, y]) => [x * scale, baseline - y * scale]));
    return fill(outlines, width, height);
  };
  return { draw, getAdvance: (size) => (metrics.advance * size) / unitsPerEm };
}

/** From a character to a glyph, 0 if there is none: the tables of format 4 and 12. */
function createLookup(file, cmap) {
  const subtables = new Map();
  for (let index = 0; index < file.readUInt16BE(cmap + 2); index++) {
    const offset = cmap + file.readUInt32BE(cmap + 4 + index * 8 + 4);
    subtables.set(file.readUInt16BE(offset), offset);
  }
  const long = subtables.get(12);
  if (long !== undefined) {
    return (code) => {
      for (let index = 0; index < file.readUInt32BE(long + 12); index++) {
        const group = long + 16 + index * 12;
        const first = file.readUInt32BE(group);
        if (code >= first && code <= file.readUInt32BE(group + 4)) return file.readUInt32BE(group + 8) + code - first;
      }
      return 0;
    };
  }
  const short = subtables.get(4);
  const size = file.readUInt16BE(short + 6);
  return (code) => {
    for (let index = 0; index < size; index += 2) {
      if (code > file.readUInt16BE(short + 14 + index)) continue;
      const first = file.readUInt16BE(short + 16 + size + index);
      if (code < first) return 0;
      const delta = file.readInt16BE(short + 16 + 2 * size + index);
      const position = short + 16 + 3 * size + index;
      const range = file.readUInt16BE(position);
      if (range === 0) return (code + delta) & 0xffff;
      const glyph = file.readUInt16BE(position + range + 2 * (code - first));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
    return 0;
  };
}

function readSimple(file, start, contourCount) {
  const ends = Array.from({ length: contourCount }, (_unused, index) => file.readUInt16BE(start + 10 + index * 2));
  const pointCount = (ends.at(-1) ?? -1) + 1;
  let position = start + 10 + contourCount * 2;
  position += 2 + file.readUInt16BE(position);
  const flags = [];
  while (flags.length < pointCount) {
    const flag = file[position++];
    const repeats = flag & 8 ? file[position++] : 0;
    for (let count = 0; count <= repeats; count++) flags.push(flag);
  }
  const readAxis = (shortBit, sameBit) => {
    let value = 0;
    return flags.map((flag) => {
      if (flag & shortBit) value += flag & sameBit ? file[position++] : -file[position++];
      else if (!(flag & sameBit)) {
        value += file.readInt16BE(position);
        position += 2;
      }
      return value;
    });
  };
  const xs = readAxis(2, 16);
  const ys = readAxis(4, 32);
  const points = flags.map((flag, index) => ({ x: xs[index], y: ys[index], isOn: (flag & 1) === 1 }));
  return ends.map((end, index) => flatten(points.slice(index === 0 ? 0 : ends[index - 1] + 1, end + 1)));
}

/** Several glyphs, such as a letter and its accent. */
function readComposite(file, start, readOutlines) {
  const outlines = [];
  let position = start + 10;
  for (let flags = 32; flags & 32;) {
    flags = file.readUInt16BE(position);
    const glyph = file.readUInt16BE(position + 2);
    const isWide = flags & 1;
    const dx = isWide ? file.readInt16BE(position + 4) : file.readInt8(position + 4);
    const dy = isWide ? file.readInt16BE(position + 6) : file.readInt8(position + 5);
    position += isWide ? 8 : 6;
    const numbers = flags & 8 ? 1 : flags & 64 ? 2 : flags & 128 ? 4 : 0;
    const matrix = Array.from({ length: numbers }, (_unused, index) => file.readInt16BE(position + index * 2) / 16384);
    position += numbers * 2;
    const [a = 1, b = 0, c = 0, d = 1] =
      numbers === 1 ? [matrix[0], 0, 0, matrix[0]] : numbers === 2 ? [matrix[0], 0, 0, matrix[1]] : matrix;
    const move = ([x, y]) => [x * a + y * c + dx, x * b + y * d + dy];
    outlines.push(...readOutlines(glyph).map((points) => points.map(move)));
  }
  return outlines;
}

const curveSteps = 8;

/** Curves as short lines. Between two control points there is a point that the file leaves out. */
function flatten(points) {
  const middle = (one, other) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, isOn: true });
  const full = points.flatMap((point, index) => {
    const next = points[(index + 1) % points.length];
    return point.isOn || next.isOn ? [point] : [point, middle(point, next)];
  });
  const first = full.findIndex(({ isOn }) => isOn);
  const ordered = [...full.slice(first), ...full.slice(0, first), full[first]];
  const line = [[ordered[0].x, ordered[0].y]];
  for (let index = 1; index < ordered.length; index++) {
    const [from, point] = [ordered[index - 1], ordered[index]];
    if (point.isOn) {
      line.push([point.x, point.y]);
      continue;
    }
    const to = ordered[++index];
    for (let step = 1; step <= curveSteps; step++) {
      const t = step / curveSteps;
      const mix = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
      line.push([mix(from.x, point.x, to.x), mix(from.y, point.y, to.y)]);
    }
  }
  return line;
}

/** A point is inside if the lines go around it, in whichever direction. */
function fill(outlines, width, height) {
  const coverage = new Float32Array(width * height);
  for (let row = 0; row < height * samples; row++) {
    const y = (row + 0.5) / samples;
    const crossings = [];
    for (const points of outlines) {
      for (let index = 1; index < points.length; index++) {
        const [[x0, y0], [x1, y1]] = [points[index - 1], points[index]];
        if (y0 > y === y1 > y) continue;
        crossings.push({ x: x0 + ((y - y0) / (y1 - y0)) * (x1 - x0), turn: y1 > y0 ? 1 : -1 });
      }
    }
    crossings.sort((one, other) => one.x - other.x);
    let turns = 0;
    for (const [index, { x, turn }] of crossings.entries()) {
      turns += turn;
      if (turns === 0 || index + 1 === crossings.length) continue;
      const from = Math.max(0, Math.ceil(x * samples - 0.5));
      const to = Math.min(width * samples, Math.ceil(crossings[index + 1].x * samples - 0.5));
      for (let column = from; column < to; column++) {
        coverage[Math.floor(row / samples) * width + Math.floor(column / samples)] += 1 / samples ** 2;
      }
    }
  }
  return coverage;
}
