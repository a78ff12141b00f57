/** How many sessions one device holds open. Idle ones make room for a new one. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { SerialQueue } from "@tau/ai/internal";
import { ownDeviceId } from "@tau/protocol/node";
import { GatewayError } from "../errors.ts";
import type { OpenSession } from "./open-session.ts";

interface HeldSessionsParts {
  listOpen: () => Iterable<OpenSession>;
  /** The devices that follow a session. */
  listFollowers: (sessionId: string) => readonly string[];
  close: (sessionId: string, reason: string) => Promise<void>;
  getMaxOpen: () => number;
}

/** Facts about an open session that the decision needs. */
export interface HeldSession {
  readonly sessionId: string;
  readonly isIdle: boolean;
  readonly lastUsedMs: number;
  /** The devices that follow it. */
  readonly followers: readonly string[];
}

/**
 * Which sessions of a device are closed so that `excess` fewer are open: idle ones that nobody follows, then those that only
 * the device itself follows, the least recently used first. There may be fewer than that. Pure.
 */
export function chooseClosing(held: readonly HeldSession[], deviceId: string, excess: number): readonly HeldSession[] {
  const isOwn = ({ followers }: HeldSession) => followers.every((follower) => follower === deviceId);
  const closable = held
    .filter((session) => session.isIdle && isOwn(session))
    .toSorted(
      (a, b) => Math.min(a.followers.length, 1) - Math.min(b.followers.length, 1) || a.lastUsedMs - b.lastUsedMs,
    );
  return closable.slice(0, Math.max(0, excess));
}

interface DeviceSessions {
  /** Sessions that are being opened. */
  readonly opening: Set<Promise<unknown>>;
  /** Requests that wait until another session is closed. */
  readonly waiting: SerialQueue;
  waitingCount: number;
}

export class HeldSessions {
  readonly #parts: HeldSessionsParts;
  readonly #devices = new Map<string, DeviceSessions>();

  constructor(parts: HeldSessionsParts) {
    this.#parts = parts;
  }

  /** Opens a session for a device. Throws `rate_limited` if the device has too many that are in use. */
  async hold<T extends OpenSession | undefined>(deviceId: string | undefined, openOne: () => Promise<T>): Promise<T> {
    if (deviceId === undefined) return await openOne();
    const device = this.#devices.get(deviceId) ?? { opening: new Set(), waiting: new SerialQueue(), waitingCount: 0 };
    this.#devices.set(deviceId, device);
    const isRoom = this.#listHeld(deviceId).length + device.opening.size < this.#parts.getMaxOpen();
    try {
      if (isRoom && device.waitingCount === 0) return await this.#open(deviceId, device, openOne);
      device.waitingCount++;
      return await device.waiting
        .add(async () => {
          // What has just been opened may be closed again as soon as nobody uses it.
          await Promise.allSettled(device.opening);
          await nextTurn();
          await this.#makeRoom(deviceId);
          return await this.#open(deviceId, device, openOne);
        })
        .finally(() => device.waitingCount--);
    } finally {
      if (device.opening.size + device.waitingCount === 0) this.#devices.delete(deviceId);
    }
  }

  async #open<T extends OpenSession | undefined>(
    deviceId: string,
    { opening }: DeviceSessions,
    openOne: () => Promise<T>,
  ): Promise<T> {
    const opened = openOne();
    opening.add(opened);
    try {
      const open = await opened;
      // Something may have closed it already.
      if (!open) return open;
      open.heldBy ??= deviceId;
      // The caller has not begun to use it yet.
      void open.use(() => nextTurn());
      return open;
    } finally {
      opening.delete(opened);
    }
  }

  async #makeRoom(deviceId: string): Promise<void> {
    const { close, getMaxOpen } = this.#parts;
    const held = this.#listHeld(deviceId);
    const maxOpen = getMaxOpen();
    const excess = held.length + 1 - maxOpen;
    const closing = chooseClosing(held, deviceId, excess);
    // The account itself is never kept from its sessions.
    if (closing.length < excess && deviceId !== ownDeviceId) {
      const advice = "Wait until one is idle, or close one; the setting gateway.devices.maxOpenSessions allows more.";
      throw new GatewayError("rate_limited", `This device has ${maxOpen} sessions open, and all are in use. ${advice}`);
    }
    await Promise.all(closing.map(({ sessionId }) => close(sessionId, "idle")));
  }

  #listHeld(deviceId: string): HeldSession[] {
    const { listOpen, listFollowers } = this.#parts;
    return [...listOpen()]
      .filter(({ heldBy }) => heldBy === deviceId)
      .map(({ isIdle, lastUsedMs, hosted: { session } }) => {
        const { sessionId } = session;
        return { sessionId, isIdle, lastUsedMs, followers: listFollowers(sessionId) };
      });
  }
}
