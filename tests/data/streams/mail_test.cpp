#include "data/streams/mail.hpp"

#include <gtest/gtest.h>

#include "data/streams/timestamp.hpp"

namespace {

using namespace obolus;

// ---- Dates ----------------------------------------------------------------------------------------------------------

TEST(MailDate, IsInSecondsOfUtc) {
  EXPECT_EQ(mail_date("Thu, 22 Aug 2002 13:17:21 +0100 (IST)"), 1030018641.0);  // date -d … +%s
  EXPECT_EQ(mail_date("22 Aug 2002 12:17:21"), 1030018641.0);
  EXPECT_EQ(mail_date(" Thu,22 aug 02 05:17:21 PDT"), 1030018641.0);
  EXPECT_EQ(mail_date("Thu, 1 Jan 1970 00:00 GMT"), 0.0);
  EXPECT_EQ(mail_date("1 Jan 1970 00:00:00 -0130"), 5400.0);
}

TEST(MailDate, WhatIsNoneIsNone) {
  for (const char* text : {"", "yesterday", "Thu, 22 Aug", "32 Aug 2002 13:17:21", "22 Foo 2002 13:17:21",
                           "30 Feb 2002 13:17:21", "22 Aug 2002 24:00:00", "22 Aug 2002 13",
                           "22 Aug 2002 13:17:", "99999999999 Aug 2002 13:17:21", "22 Aug 1066 13:17:21"})
    EXPECT_FALSE(mail_date(text)) << text;
}

TEST(WireDate, BlanksDoNotMatter) {
  EXPECT_EQ(wire_date("26-FEB-1987 15:01:01.79"), 541350061.79);
  EXPECT_EQ(wire_date("  9-MAR-1987  00:14:46.66"), 542247286.66);
  for (const char* text :
       {"", "26-FEB-1987", "26 FEB 1987 15:01:01.79", "31-FEB-1987 15:01:01.79", "26-FEB-1987 15:01"})
    EXPECT_FALSE(wire_date(text)) << text;
}

// ---- Mails ----------------------------------------------------------------------------------------------------------

TEST(Mail, HeadersAreUnfoldedAndTheFirstCounts) {
  const Mail mail = mail_of(
      "From somebody@here Thu Aug 22 13:17:22 2002\n"
      "Received: from a by b;\r\n\tThu, 22 Aug 2002 13:17:21 +0100\n"
      "Received: from c by a; Fri, 23 Aug 2002 13:17:21 +0100\n\tand more of it\n"
      "SUBJECT: first\n second\n"
      "Subject: another\n"
      "From: me\n"
      "Date: Mon, 1 Jan 2001 00:00:00 +0000\n"
      "\n"
      "Subject: of the body\n");
  EXPECT_EQ(mail.subject, " first second");
  EXPECT_EQ(mail.from, " me");
  EXPECT_EQ(mail.body, "Subject: of the body\n");
  EXPECT_EQ(mail.received, 1030018641.0);
}

TEST(Mail, WithoutAHostsDateItsOwnCountsAndWithoutBothThereIsNone) {
  EXPECT_EQ(mail_of("Date: Thu, 22 Aug 2002 13:17:21 +0100\n\n").received, 1030018641.0);
  EXPECT_EQ(mail_of("Received: by b; some day\nDate: 22 Aug 2002 12:17:21\n\n").received, 1030018641.0);
  EXPECT_FALSE(mail_of("Subject: x\n\nbody").received);
  EXPECT_FALSE(mail_of("").received);
}

TEST(Mail, AttachmentsAreLeftOut) {
  const std::string encoded(60, 'A');
  EXPECT_EQ(mail_of("\nwords\n" + encoded + "\r\n" + encoded + "=\n" + encoded + ".\nA+/=\n").body,
            "words\n" + encoded + ".\nA+/=\n");
}

}  // namespace
