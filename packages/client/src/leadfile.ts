/** @leadfile/client: reads leads, pixels and usage from a Leadfile server. */
import { connect } from "./connection.ts";
import type { Lead, LeadQuery, Pixel, PixelList, Usage } from "./contract.ts";
import { type Batch, type BatchOptions, type FollowOptions, followBatches, followLeads } from "./follow.ts";
import { type AllOptions, allLeads, type CallOptions, createList, type LeadPage } from "./leads.ts";
import { type LeadfileOptions, readSettings } from "./settings.ts";
import { sourceOf } from "./source.ts";

export type * from "./contract.ts";
export * from "./errors.ts";
export type { Fetch } from "./exchange.ts";
export type { Batch, BatchOptions, FollowOptions } from "./follow.ts";
export type { AllOptions, CallOptions, LeadFilter, LeadPage, RateLimit } from "./leads.ts";
export type { Checkpoint } from "./progress.ts";
export type { LeadfileOptions, Retry } from "./settings.ts";
export type { Clock, Duration } from "./time.ts";

export interface Leads {
  /** One page, newest first (§4.1). */
  list(query?: LeadQuery & CallOptions): Promise<LeadPage>;
  /** Every lead, newest first, across all pages. */
  all(options?: AllOptions): AsyncGenerator<Lead, void, undefined>;
  /** Every lead once, oldest first, then new leads as they arrive. Only its signal ends it. */
  follow(options?: FollowOptions): AsyncGenerator<Lead, void, undefined>;
  /** Yields every lead once, like follow, in batches. Store each checkpoint together with its batch. */
  batches(options?: BatchOptions): AsyncGenerator<Batch, void, undefined>;
}

/** A client for one server and one key. Throws a SettingError if a setting is wrong. */
export class Leadfile {
  readonly leads: Leads;
  readonly pixels: { list(options?: CallOptions): Promise<Pixel[]> };
  readonly usage: { get(options?: CallOptions): Promise<Usage> };

  constructor(options: LeadfileOptions) {
    const settings = readSettings(options);
    const get = connect(settings);
    const list = createList(get);
    const listPixels = async ({ signal }: CallOptions = {}) =>
      (await get<PixelList>("/api/v1/pixels", "list", { signal }, ({ data }) => Array.isArray(data))).body.data;
    const followed = { list, listPixels, clock: settings.clock, source: () => sourceOf(settings) };
    this.leads = {
      list,
      all: (all = {}) => allLeads(list, all),
      follow: (follow = {}) => followLeads(followed, follow),
      batches: (batches = {}) => followBatches(followed, batches),
    };
    this.pixels = { list: listPixels };
    this.usage = { get: async ({ signal } = {}) => (await get<Usage>("/api/v1/usage", "usage", { signal })).body };
  }
}
