/** The shapes of the API (§2). Generated: bun test/packages/client/generate.ts writes it from the server's contract. */

/** One identified visit of a website. */
export interface Lead {
  /** Unique lead event identifier. */
  id: string;
  /** When the visitor was identified. It is the sort field and the cursor field. */
  identified_at: string;
  /** The pixel that captured the visit. */
  pixel_id: string;
  /** Full name. */
  name: string | null;
  /** Best-known email address. */
  email: string | null;
  /** Personally verified email address. */
  verified_email: string | null;
  /** Phone number, digits only. */
  phone: string | null;
  /** Employer or company name, when resolved. */
  company: string | null;
  /** City. */
  city: string | null;
  /** Two-letter US state code. */
  state: string | null;
  /** Household demographic. */
  gender: string | null;
  /** Bucketed range. */
  age_range: string | null;
  /** Bucketed range. */
  income_range: string | null;
  /** Bucketed range. */
  net_worth: string | null;
  /** Household demographic. */
  marital_status: string | null;
  /** Household demographic. */
  homeowner: string | null;
  /** Household demographic. */
  children: string | null;
  /** Page of the identifying visit. */
  page_url: string | null;
  /** Referrer of the identifying visit. */
  referrer: string | null;
  /** Traffic source of the identifying visit. */
  traffic_source: string | null;
}

/** A page of leads, newest first. */
export interface LeadList {
  object: "list";
  data: Lead[];
  /** True when further pages exist. */
  has_more: boolean;
  /** The identified_at of the last lead of this page; null exactly when has_more is false. */
  next_cursor: string | null;
}

/** A source of visits. */
export interface Pixel {
  /** Pixel identifier; used as the pixel_id filter on GET /leads. */
  id: string;
  /** Pixel status. */
  status: string;
}

/** All pixels of the account. */
export interface PixelList {
  object: "list";
  data: Pixel[];
}

/** The requests of the presented key; days and months are in UTC. */
export interface Usage {
  object: "usage";
  /** Requests made with the presented key today. */
  requests_today: number;
  /** Requests made with the presented key this month. */
  requests_this_month: number;
  /** The per-minute limit of the key. */
  rate_limit_per_min: number;
}

/** The parameters of a page of leads (§4.1). */
export interface LeadQuery {
  /** Results per page. */
  limit?: number | undefined;
  /** Pagination cursor: only leads identified strictly before this time. */
  before?: string | Date | undefined;
  /** Only leads identified at or after this time. */
  since?: string | Date | undefined;
  /** Restrict to one pixel. It must belong to the account. */
  pixel_id?: string | undefined;
  /** Two-letter US state code. */
  state?: string | undefined;
  /** City name; case-insensitive exact match. */
  city?: string | undefined;
  /** When true, only leads that have an email address are returned; false filters nothing. */
  has_email?: boolean | undefined;
}
