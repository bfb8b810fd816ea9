/**
 * What vendors call the fields of a lead, in lower case, letters and digits alone. The order is the order of preference:
 * where several columns hold one field, each row takes the first that has a value.
 */
import { type LeadField, leadFields } from "../../../contract/lead.ts";

/** What goes into a field of a lead: the halves of its name, whether its state is one of the US, when its clocks show a time. */
const ingredients = ["first_name", "last_name", "country", "time_zone"] as const;

/** A field of a lead, or what goes into one. */
export type Target = LeadField | (typeof ingredients)[number];

export const targets: readonly Target[] = [...leadFields, ...ingredients];

/** Every way to begin with one of some words, or none, and to end with one of others. */
function combine(beginnings: string, endings: string): string[] {
  return words(endings).flatMap((ending) =>
    words(beginnings).map((beginning) => (beginning + ending).replace("_", "")),
  );
}

/** The words of a text; `_` stands for nothing at all. */
function words(text: string): string[] {
  return text.split(" ");
}

/** Whose home it is that a city or state belongs to. */
const ofHome = "_ personal home address residential residence mailing location current";

/** What every field is called, the preferred names first. */
export const aliases: Record<Target, readonly string[]> = {
  id: words("id eventid"),
  identified_at: [
    ...combine("identified identification", "at on date time timestamp"),
    ...combine(
      "date time timestamp",
      "identified captured resolved matched detected recorded occurred visited viewed seen ofvisit",
    ),
    ...combine("visitor capture resolution match detection occurrence", "date time datetime timestamp"),
    ...combine("event visit pageview page_view hit session activity", "timestamp time datetime ts date at"),
    ...words("timestamp datetime ts time epoch unixtime unixtimestamp visited visitedat visitedon viewedat"),
    ...combine(
      "last timelast mostrecent latest",
      "seenat seen seenon seendate seentime visitedat visited visit visitat visitdate",
    ),
    ...combine(
      "last mostrecent latest",
      "visittime activity activityat activitydate active activeat activedate eventat eventdate sessionat sessiondate",
    ),
    ...combine("seen clicked occurred captured resolved matched detected recorded", "at on _ date time"),
    ...combine("_ session visit", "startedat started start starttime starttimestamp begin beganat"),
    ...combine("_ session visit event", "created createdat createdon createddate createdtime"),
    ...words("creationdate datecreated date day"),
    ...combine("first timefirst", "seenat seen seenon seendate visitedat visited visit visitat visitdate"),
  ],
  pixel_id: words("pixelid pixel superpixelid superpixel trackingpixelid trackingpixel sitepixelid pixeluuid"),
  name: words("name fullname personname displayname"),
  first_name: words("firstname givenname fname forename first"),
  last_name: words("lastname surname familyname lname last"),
  email: combine(
    "_ personal best primary main home business work professional corporate other secondary alternate additional all",
    "email",
  ).concat(words("emailpersonal emailbusiness emailwork mail")),
  verified_email: [
    ...combine("_ personal", "verifiedemail"),
    "verifiedpersonalemail",
    ...combine("business work professional corporate", "verifiedemail"),
    ...combine("verified", "businessemail workemail professionalemail corporateemail"),
    ...words("deepverifiedemail validatedemail validemail confirmedemail"),
  ],
  phone: [
    ...words("phone bestphone primaryphone mainphone mobile direct directnumber directphone directdial directline"),
    ...combine("personal home", "mobile phone number"),
    ...words("contactnumber tel phonemobile phonedirect phonework"),
    ...words("allmobile alllandline landline allphone"),
    ...combine("work business office corporate professional", "directphone directdial direct mobile phone"),
    ...words("otherphone secondaryphone"),
    ...combine("skiptrace", "wirelessnumber wirelessphone mobile phone landlinenumber landline"),
  ],
  company: [
    ...words("company companyname companyaccount currentcompany currentcompanyname"),
    ...words("employer employername currentemployer organization organizationname business businessname"),
    ...words("professionalcompany professionalcompanyname jobcompany jobcompanyname workplace firm"),
  ],
  city: [...combine(ofHome, "city town cityname towncity citytown"), "skiptracecity"],
  state: [
    ...combine(ofHome, "state statecode stateabbr stateabbreviation stateregion stateprovince statename"),
    ...combine(ofHome, "stateprovincetextonly region regioncode regionname province"),
    "skiptracestate",
  ],
  country: [
    ...combine(ofHome, "country countrycode countryname countryiso countryisocode countryregion nation"),
    ...words("countrycodeiso countryiso2 countryiso3 countryiso3166 countryalpha2 countryfull countryfullname"),
    ...words("countryofresidence residencecountry primarycountry"),
  ],
  time_zone: words("timezone tz timezonename timezoneid timezoneoffset utcoffset"),
  gender: words("gender sex"),
  age_range: words("agerange agegroup agebracket ageband agebucket age"),
  income_range: [
    ...words("incomerange incomebracket incomelevel incomeband householdincomerange householdincome"),
    ...words("estimatedhouseholdincome estimatedincome annualincome income"),
  ],
  net_worth: words("networth networthrange householdnetworth estimatednetworth networthband"),
  marital_status: words("maritalstatus marital married ismarried marriagestatus relationshipstatus"),
  homeowner: words("homeowner ishomeowner homeownerstatus homeownership homeownerrenter ownshome ownorrent ownrent"),
  children: words("children haschildren numberofchildren childrencount presenceofchildren childreninhousehold haskids"),
  page_url: [
    ...words("pageurl url fullurl page landingpageurl landingpage landingurl capturedurl captureduri"),
    ...combine("last current visited visit viewed mostrecent recent event entry", "url page pageurl"),
    ...words("lastvisitedurl lastvisitedpage pages pageurls urls visitedpages pagesvisited pagesviewed pagevisits"),
    ...words("lastpageseen pageviewed pagevisited pagelocation uri href"),
    ...combine("first initial", "url page pageurl pageseen"),
  ],
  referrer: [
    ...combine("_ http document page session", "referrer referer referrerurl refererurl"),
    ...words("referringurl referringpage referralurl lastreferringsite firstreferringsite"),
    ...combine("mostrecent last latest first initial original", "referrer referer referrerurl refererurl"),
  ],
  traffic_source: [
    ...words("trafficsource source utmsource leadsource visitsource sessionsource trafficchannel channel"),
    ...combine("mostrecent last latest first initial original", "source trafficsource utmsource"),
  ],
};
