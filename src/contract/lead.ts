/** The lead (§2.2): one identified visit of a website. */
import { type Static, type TString, Type } from "@sinclair/typebox";
import { namesOf } from "./names.ts";

const nullable = (description: string, options: { examples?: string[]; pattern?: string } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

/** A moment as it is served: UTC with exactly three decimals. */
export const moment = (description: string): TString =>
  Type.String({
    format: "date-time",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
    description,
    examples: ["2026-01-31T09:15:00.123Z"],
  });

/** The 20 fields of a lead, in the order in which they are served. */
export const Lead = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Unique lead event identifier." }),
    identified_at: moment("When the visitor was identified. It is the sort field and the cursor field."),
    pixel_id: Type.String({ description: "The pixel that captured the visit." }),
    name: nullable("Full name."),
    email: nullable("Best-known email address."),
    verified_email: nullable("Personally verified email address."),
    phone: nullable("Phone number, digits only.", { pattern: "^[0-9]+$" }),
    company: nullable("Employer or company name, when resolved."),
    city: nullable("City."),
    state: nullable("Two-letter US state code.", { pattern: "^[A-Z]{2}$", examples: ["CA"] }),
    gender: nullable("Household demographic."),
    age_range: nullable("Bucketed range."),
    income_range: nullable("Bucketed range."),
    net_worth: nullable("Bucketed range."),
    marital_status: nullable("Household demographic."),
    homeowner: nullable("Household demographic."),
    children: nullable("Household demographic."),
    page_url: nullable("Page of the identifying visit."),
    referrer: nullable("Referrer of the identifying visit."),
    traffic_source: nullable("Traffic source of the identifying visit."),
  },
  { $id: "Lead", additionalProperties: false },
);
export type Lead = Static<typeof Lead>;
export type LeadField = keyof Lead;

/** What names and places the event: the first fields of a lead. */
export type LeadEvent = Pick<Lead, "id" | "identified_at" | "pixel_id">;
/** The fields that say something of the visitor or the visit: all others. */
export type DetailField = Exclude<LeadField, keyof LeadEvent>;
export type LeadDetails = Pick<Lead, DetailField>;

export const leadFields = namesOf(Lead.properties);
export const detailFields = leadFields.filter(
  (field): field is DetailField => field !== "id" && field !== "identified_at" && field !== "pixel_id",
);
