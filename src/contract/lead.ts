/** The lead (§2.2), one identified visit of a website, and the list of leads (§2.1). */
import { type Static, type TString, Type } from "@sinclair/typebox";
import { namesOf } from "./names.ts";

const nullable = (description: string, examples?: string[]) =>
  Type.Union([Type.String(examples === undefined ? {} : { examples }), Type.Null()], { description });

/** A timestamp as it is served: UTC with exactly three decimals. */
const timestamp = (description: string): TString =>
  Type.String({ format: "date-time", description, examples: ["2026-01-31T09:15:00.123Z"] });

/**
 * The 20 fields of a lead, in the order in which they are served. Responses have no patterns and may get new fields:
 * clients that are generated from the description would refuse leads that they could read.
 */
export const Lead = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Unique lead event identifier." }),
    identified_at: timestamp("When the visitor was identified. It is the sort field and the cursor field."),
    pixel_id: Type.String({ description: "The pixel that captured the visit." }),
    name: nullable("Full name."),
    email: nullable("Best-known email address."),
    verified_email: nullable("Personally verified email address."),
    phone: nullable("Phone number, digits only."),
    company: nullable("Employer or company name, when resolved."),
    city: nullable("City."),
    state: nullable("Two-letter US state code.", ["CA"]),
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
  { $id: "Lead" },
);
export type Lead = Static<typeof Lead>;
export type LeadField = keyof Lead;

/** The list of leads. src/api/leads.ts writes it around documents as they are stored. */
export const LeadList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(Lead),
    has_more: Type.Boolean({ description: "True when further pages exist." }),
    next_cursor: Type.Union([timestamp("Pass it as the before parameter to get the next page."), Type.Null()], {
      description: "The identified_at of the last lead of this page; null exactly when has_more is false.",
    }),
  },
  { $id: "LeadList", description: "A page of leads." },
);
export type LeadList = Static<typeof LeadList>;

/** The first fields of a lead: what identifies the event. */
export type LeadEvent = Pick<Lead, "id" | "identified_at" | "pixel_id">;
/** All other fields: what is known of the visitor or the visit. */
export type DetailField = Exclude<LeadField, keyof LeadEvent>;
export type LeadDetails = Pick<Lead, DetailField>;

export const leadFields = namesOf(Lead.properties);
export const detailFields = leadFields.filter(
  (field): field is DetailField => field !== "id" && field !== "identified_at" && field !== "pixel_id",
);
