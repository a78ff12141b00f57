import { expect, test } from "vitest";
import { getZone, resolvePath, toCoveredPath } from "./paths.ts";
import { unknownMark } from "./shell/text.ts";

const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };

test.for([
  ["..", "/src"],
  ["./a/../b", "/src/app/b"],
  ["~/x", "/home/me/x"],
  ["//etc//passwd", "/etc/passwd"],
  ["/proc/self/root/etc", "/etc"],
  ["/proc/1/root/", "/"],
  ["../../../../..", "/"],
  [`${unknownMark}/x`, `${unknownMark}/x`],
])("%s resolves to %s", ([path, expected]) => {
  expect(resolvePath(path!, context.cwd, context.home)).toBe(expected);
});

test.for([
  ["/", "/"],
  ["/*", "/"],
  ["/.*", "/"],
  ["/a/*/*", "/a"],
  ["/a/*.log", "/a/*.log"],
  [`/a/${unknownMark}`, "/a"],
  [`/a/${unknownMark}/b`, `/a/${unknownMark}/b`],
])("%s covers %s", ([path, expected]) => {
  expect(toCoveredPath(path!)).toBe(expected);
});

test.for([
  ["/", "root"],
  ["/etc", "root"],
  ["/src", "root"],
  ["/home", "root"],
  ["/home/you", "root"],
  ["/etc/nginx", "system"],
  ["/home/me", "home"],
  ["/home/me/x", "in-home"],
  ["/src/app", "workspace"],
  ["/src/app/x", "in-workspace"],
  ["/src/app/.git", "repository"],
  ["/src/app/sub/.GIT", "repository"],
  ["/tmp", "temp"],
  ["/tmp/x", "in-temp"],
  ["/data/x", "outside"],
  [`${unknownMark}/x`, "unknown"],
])("%s is %s", ([path, zone]) => {
  expect(getZone(path!, context)).toBe(zone);
});

test("a workspace in the home, or that is the home, keeps its own zone", () => {
  const inside = { cwd: "/home/me/app", home: "/home/me", workspace: "/home/me/app" };
  expect(getZone("/home/me/app/x", inside)).toBe("in-workspace");
  expect(getZone("/home/me", inside)).toBe("home");
  expect(getZone("/home/me", { ...inside, workspace: "/home/me" })).toBe("workspace");
});
