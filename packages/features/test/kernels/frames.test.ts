/** Figures, images and data frames, with the libraries of Debian. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { openKernels } from "./kit.ts";

const python = "/usr/bin/python3";
const libraries = ["matplotlib", "PIL", "pandas"];
const missing = (() => {
  const script = `import importlib.util as u\nprint(",".join(n for n in ${JSON.stringify(libraries)} if u.find_spec(n) is None))`;
  const { status, stdout } = spawnSync(python, ["-c", script], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : libraries.join(",");
})();
if (missing !== "") process.stderr.write(`SKIPPED: ${python} does not have ${missing}, so no figure is drawn.\n`);

test.skipIf(missing !== "")(
  "figures and images are PNG, each shown once, and data frames are tables and data",
  { timeout: 300_000 },
  async () => {
    const { run } = await openKernels({ settings: { kernels: { python } } as object });
    const show = async (code: string) => {
      const { message, text, details } = await run("python", code);
      const images = message.content.flatMap((block) => (block.type === "image" ? [block] : []));
      for (const { data, mimeType } of images) {
        expect(mimeType).toBe("image/png");
        expect(Buffer.from(data, "base64").subarray(1, 4).toString()).toBe("PNG");
      }
      return { images: images.length, text, value: details.value };
    };
    const start = "import matplotlib.pyplot as plt\n";
    expect(await show(`${start}plt.plot([1, 2, 3])\nNone`)).toMatchObject({ images: 1 });
    for (const last of ["fig", "display(fig)", "plt.show()", "plt.gcf()"])
      expect(await show(`fig = plt.figure(figsize=(1, 1))\n${last}`), last).toMatchObject({ images: 1 });
    expect((await show("plt.figure(figsize=(1, 1)); plt.figure(figsize=(1, 1))\n1")).images).toBe(2);
    expect((await show("1")).images).toBe(0);
    for (const mode of ["RGB", "L", "1", "CMYK", "F"])
      expect((await show(`from PIL import Image\nImage.new("${mode}", (4, 4))`)).images, mode).toBe(1);
    expect(
      (await show("import io\nb = io.BytesIO()\nImage.new('L', (2, 2)).save(b, 'PNG')\nb.getvalue()")).images,
    ).toBe(1);
    const frame = await show(
      `import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": ["x|y", None], "c": [1.5, float("nan")]})
df`,
    );
    expect(frame.text).toBe(
      "|  | a | b | c |\n| --- | --- | --- | --- |\n| 0 | 1 | x\\|y | 1.5 |\n| 1 | 2 | None | nan |",
    );
    expect(frame.value).toEqual([
      { a: 1, b: "x|y", c: 1.5 },
      { a: 2, b: null, c: null },
    ]);
    expect((await show("display(df.describe())")).text).toMatch(/^\| {2}\| a \| c \|\n.*\n\| count \| 2\.0 \| 1\.0 \|/);
    const long = await show("pd.DataFrame({'n': range(300000)})");
    expect(long.text).toMatch(/\| 99 \| 99 \|\n\[100 of 300000 rows are shown\.\]$/);
    expect(long.value).toBeUndefined();
    expect((await show("df['a'].sum()")).value).toBe(3);
  },
);
