import { expect, test } from "vitest";
import { resizeRows } from "./resize.ts";

const rows = Array.from({ length: 6 }, () => ({ text: "line", width: 4, cursor: undefined }));
const before = { columns: 20, rows: 6 };
const scrolledOut = [4, 4, 4, 4];

test.each([
  { alwaysPulls: false, row: 5, pulled: 3 },
  { alwaysPulls: false, row: 3, pulled: 0 },
  { alwaysPulls: true, row: 5, pulled: 3 },
  { alwaysPulls: true, row: 3, pulled: 3 },
])("a taller screen brings $pulled lines back, with the cursor in row $row", ({ alwaysPulls, row, pulled }) => {
  const painted = { rows, cursor: { row, column: 0 } };
  const after = { columns: 20, rows: 9 };
  expect(resizeRows({ before, after, painted, scrolledOut, alwaysPulls }).pulled).toBe(pulled);
});
