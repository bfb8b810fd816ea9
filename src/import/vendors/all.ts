/** The profiles of all vendors, by the names that --vendor takes. A new one is a file next to this one, and a line here. */

import { sixsense } from "./6sense.ts";
import { apollo } from "./apollo.ts";
import { apolloPeople } from "./apollo-people.ts";
import { audiencelab } from "./audiencelab.ts";
import { audiencelabEvents } from "./audiencelab-events.ts";
import { gohighlevel } from "./gohighlevel.ts";
import { happierleads } from "./happierleads.ts";
import { hubspot } from "./hubspot.ts";
import { klaviyo } from "./klaviyo.ts";
import { leadfeeder } from "./leadfeeder.ts";
import { leadfeederVisits } from "./leadfeeder-visits.ts";
import { midbound } from "./midbound.ts";
import { posthog } from "./posthog.ts";
import { rb2b } from "./rb2b.ts";
import { rb2bProfiles } from "./rb2b-profiles.ts";
import { retention } from "./retention.ts";
import { salesforce } from "./salesforce.ts";
import { segment } from "./segment.ts";
import { segmentGroup } from "./segment-group.ts";
import { snitcher } from "./snitcher.ts";
import type { Vendor } from "./vendor.ts";

/** The vendors, by name. The first one that recognizes a record is used. */
export const vendors: { readonly [Name in string]?: Vendor } = {
  "segment-group": segmentGroup,
  audiencelab: audiencelab,
  "audiencelab-events": audiencelabEvents,
  retention: retention,
  midbound: midbound,
  snitcher: snitcher,
  happierleads: happierleads,
  klaviyo: klaviyo,
  rb2b: rb2b,
  "rb2b-profiles": rb2bProfiles,
  segment: segment,
  posthog: posthog,
  salesforce: salesforce,
  hubspot: hubspot,
  gohighlevel: gohighlevel,
  leadfeeder: leadfeeder,
  "leadfeeder-visits": leadfeederVisits,
  apollo: apollo,
  "apollo-people": apolloPeople,
  "6sense": sixsense,
};
