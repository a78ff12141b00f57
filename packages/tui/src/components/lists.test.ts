import { describe, expect, test } from "vitest";
import type { TuiMouseEvent } from "../mouse.ts";
import { CancellableLoader } from "./cancellable-loader.ts";
import { SelectList, type SelectListLayoutOptions } from "./select-list.ts";
import { type SettingItem, SettingsList, type SettingsListTheme } from "./settings-list.ts";

const up = "\x1b[A";
const down = "\x1b[B";
const enter = "\r";
const escape = "\x1b";

const plain = (text: string) => text;
const mouse = (type: TuiMouseEvent["type"], y: number, more: Partial<TuiMouseEvent> = {}): TuiMouseEvent => ({
  type,
  button: "left",
  x: 1,
  y,
  screenX: 1,
  screenY: y,
  width: 50,
  height: 9,
  shift: false,
  alt: false,
  ctrl: false,
  ...more,
});

describe("SelectList", () => {
  const create = (count: number, maxVisible = 3, layout: SelectListLayoutOptions = {}) => {
    const items = Array.from({ length: count }, (_, index) => ({
      value: `v${index}`,
      label: index === 1 ? "" : `label ${index}`,
      ...(index % 2 === 1 ? { description: `about\n${index}` } : {}),
    }));
    const theme = {
      selectedPrefix: plain,
      selectedText: (text: string) => `*${text}`,
      description: (text: string) => `/${text}`,
      scrollInfo: plain,
      noMatch: plain,
    };
    const calls: string[] = [];
    const list = new SelectList(items, maxVisible, theme, layout);
    list.onSelect = ({ value }) => calls.push(`select ${value}`);
    list.onSelectionChange = ({ value }) => calls.push(`change ${value}`);
    list.onCancel = () => calls.push("cancel");
    return { list, calls };
  };

  test("aligns descriptions beside labels, where there is room for them", () => {
    const { list } = create(2, 3, { minPrimaryColumnWidth: 4, maxPrimaryColumnWidth: 20 });
    expect(list.render(60)).toEqual(["*→ label 0", "  v1/       about 1"]);
    expect(list.render(40)).toEqual(["*→ label 0", "  v1"]);
    expect(list.render(9)).toEqual(["*→ label\x1b[0m", "  v1"]);
  });

  test("keeps the selection in the middle and says where it is", () => {
    const { list } = create(7);
    list.setSelectedIndex(3);
    expect(list.render(30)).toEqual(["  label 2", "*→ label 3", "  label 4", "  (4/7)"]);
    expect(list.render(30)).toBe(list.render(30));
    list.setSelectedIndex(99);
    expect(list.render(30)).toEqual(["  label 4", "  label 5", "*→ label 6", "  (7/7)"]);
  });

  test.each<[string[], string[]]>([
    [[up], ["change v6"]],
    [
      [up, down],
      ["change v6", "change v0"],
    ],
    [
      ["\x1b[6~", enter],
      ["change v3", "select v3"],
    ],
    [
      [escape, "\x03", "x"],
      ["cancel", "cancel"],
    ],
  ])("keys %j", (keys, expected) => {
    const { list, calls } = create(7);
    for (const key of keys) list.handleInput(key);
    expect(calls).toEqual(expected);
  });

  test("filters by the beginning of values, and can be without items", () => {
    const { list, calls } = create(3);
    list.setFilter("V2");
    expect(list.getSelectedItem()?.value).toBe("v2");
    list.setFilter("label");
    expect(list.getSelectedItem()).toBeNull();
    expect(list.render(30)).toEqual(["  No matching commands"]);
    for (const key of [up, enter]) list.handleInput(key);
    expect(calls).toEqual([]);
  });

  test("the wheel moves the selection without going around, and a click takes what was pressed", () => {
    const { list, calls } = create(7);
    expect(list.handleMouse(mouse("wheel", 0, { wheelDelta: -3 }))).toEqual({ handled: true, render: false });
    expect(list.handleMouse(mouse("wheel", 0, { wheelDelta: 3 }))).toEqual({ handled: true, render: true });
    expect(list.handleMouse(mouse("press", 2))).toEqual({ handled: true, focus: true });
    expect(list.handleMouse(mouse("click", 2))).toEqual({ handled: true });
    expect(list.handleMouse(mouse("press", 3))).toBeUndefined();
    expect(list.handleMouse(mouse("press", 0, { button: "right" }))).toBeUndefined();
    expect(calls).toEqual(["change v1", "change v2", "select v2"]);
  });

  test("no control character of an item comes through", () => {
    const theme = { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain };
    const list = new SelectList([{ value: "v", label: "a\x1b[2J\x07b", description: "c\x9bd" }], 3, theme);
    expect(list.render(80).join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  });
});

describe("SettingsList", () => {
  const theme: SettingsListTheme = {
    label: plain,
    value: (text, selected) => (selected ? `*${text}` : text),
    description: plain,
    cursor: "→ ",
    hint: plain,
  };
  const create = (options?: { enableSearch?: boolean }) => {
    const calls: string[] = [];
    let done: Parameters<NonNullable<SettingItem["submenu"]>>[1] = () => {};
    const items: SettingItem[] = [
      { id: "a", label: "Alpha", currentValue: "on", values: ["on", "off"], description: "what alpha does" },
      {
        id: "b",
        label: "Beta",
        currentValue: "x",
        submenu: (value, close) => {
          done = close;
          const handleInput = (data: string) => void calls.push(`submenu ${data}`);
          return { render: () => [`submenu ${value}`], handleInput, invalidate: () => {} };
        },
      },
      { id: "c", label: "C", currentValue: "old", values: ["1", "2"] },
    ];
    const list = new SettingsList(
      items,
      2,
      theme,
      (id, value) => calls.push(`${id}=${value}`),
      () => calls.push("cancel"),
      options,
    );
    return { list, calls, close: (...args: Parameters<typeof done>) => done(...args) };
  };

  test("shows labels, values, the position, the description and a hint", () => {
    const { list } = create();
    expect(list.render(42)).toEqual([
      "→ Alpha  *on",
      "  Beta   x",
      "  (1/3)",
      "",
      "  what alpha does",
      "",
      "  Enter/Space to change · Esc to cancel",
    ]);
    expect(list.render(42)).toBe(list.render(42));
  });

  test("the keys for pages stop at the ends", () => {
    const { list } = create();
    const getPosition = () => list.render(42).find((line) => line.includes("/3)"));
    const positions = ["\x1b[6~", "\x1b[6~", "\x1b[5~", "\x1b[5~"].map((key) => {
      list.handleInput(key);
      return getPosition();
    });
    expect(positions).toEqual(["  (3/3)", "  (3/3)", "  (1/3)", "  (1/3)"]);
    const empty = new SettingsList([], 2, theme, plain, () => {});
    for (const key of ["\x1b[6~", "\x1b[5~"]) empty.handleInput(key);
    expect(empty.render(42)).toEqual(["  No settings available"]);
  });

  test("enter and space take the next value, and keys go around", () => {
    const { list, calls } = create();
    for (const key of [enter, " ", up, enter, enter, down, escape]) list.handleInput(key);
    expect(calls).toEqual(["a=off", "a=on", "c=1", "c=2", "cancel"]);
    list.updateValue("a", "new");
    expect(list.render(40)[0]).toBe("→ Alpha  *new");
  });

  test("a submenu takes the place of the list until it is done, and may go on with another item", () => {
    const { list, calls, close } = create();
    list.selectItem("b");
    list.handleInput(enter);
    list.handleInput("q");
    expect(list.render(40)).toEqual(["submenu x"]);
    close("y", { navigateTo: "c" });
    expect(calls).toEqual(["submenu q", "b=y", "c=1"]);
    expect(list.render(40).slice(0, 2)).toEqual(["  Beta   y", "→ C      *1"]);
  });

  test("a submenu that is done at once is not shown", () => {
    const submenu: SettingItem["submenu"] = (_, done) => {
      done("only");
      return { render: () => ["submenu"], invalidate: () => {} };
    };
    const item: SettingItem = { id: "a", label: "Alpha", currentValue: "none", submenu };
    const list = new SettingsList([item], 2, theme, plain, () => {});
    list.handleInput(enter);
    expect(list.render(40)[0]).toBe("→ Alpha  *only");
  });

  test("typing searches; a space belongs to the search once there is one", () => {
    const { list, calls } = create({ enableSearch: true });
    for (const key of [" ", "b", "e"]) list.handleInput(key);
    expect(calls).toEqual(["a=off"]);
    expect(list.render(60).map((line) => line.trimEnd())).toEqual([
      "> be\x1b[7m \x1b[27m",
      "",
      "→ Beta   *x",
      "",
      "  Type to search · Enter/Space to change · Esc to cancel",
    ]);
    for (const key of [" ", "z"]) list.handleInput(key);
    expect(list.render(60)[2]).toBe("  No matching settings");
    for (let count = 0; count < 4; count++) list.handleInput("\x7f");
    expect(list.render(60)[2]).toBe("→ Alpha  *off");
  });

  test("a click changes the item under it, below the search", () => {
    const { list, calls } = create({ enableSearch: true });
    expect(list.handleMouse(mouse("press", 0))).toEqual({ handled: true, focus: true });
    list.handleMouse(mouse("press", 2));
    expect(list.handleMouse(mouse("click", 2))).toEqual({ handled: true });
    expect(calls).toEqual(["a=off"]);
  });
});

describe("CancellableLoader", () => {
  test("escape aborts its signal and tells its owner", () => {
    const calls: string[] = [];
    const loader = new CancellableLoader({ requestRender: () => {} }, plain, plain);
    loader.onAbort = () => calls.push("abort");
    loader.handleInput("x");
    expect(loader.aborted).toBe(false);
    loader.handleInput(escape);
    expect([loader.aborted, loader.signal.aborted, calls]).toEqual([true, true, ["abort"]]);
    loader.dispose();
  });
});
