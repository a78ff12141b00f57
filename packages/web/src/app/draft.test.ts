import { expect, test } from "vitest";
import type { AttachedImage } from "../composer/attach-image.ts";
import { Draft, type OutgoingMessage } from "./draft.ts";

const toImage = (name: string): AttachedImage => ({ name, mimeType: "image/png", data: "AAAA" });
const getNames = ({ images }: Pick<OutgoingMessage, "images">) => images.map(({ name }) => name);

test("images are read one after the other and added to what is there then, and a message waits for them", async () => {
  const draft = new Draft();
  const sent: string[][] = [];
  const send = async (message: Pick<OutgoingMessage, "images">) => void sent.push(getNames(message));
  await draft.attach(async () => toImage("one"));
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const seen: string[][] = [];
  const second = draft.attach(async (images) => {
    seen.push(getNames({ images }));
    await finished;
    return toImage("two");
  });
  const broken = draft.attach(async () => {
    throw new Error("It cannot be read.");
  });
  const third = draft.attach(async (images) => {
    seen.push(getNames({ images }));
    return toImage("three");
  });
  await expect.poll(() => seen.length).toBe(1);
  draft.send(send);
  draft.images = [];
  finish();
  await second;
  await expect(broken).rejects.toThrow("It cannot be read.");
  await third;
  expect(seen).toEqual([["one"], ["two"]]);
  draft.send(send);
  expect(sent).toEqual([["two", "three"]]);
  expect([draft.images, draft.isReading]).toEqual([[], false]);
});
