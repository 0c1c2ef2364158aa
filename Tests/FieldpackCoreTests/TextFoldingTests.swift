import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct TextFoldingTests {
  @Test(
    arguments: [
      ("", ""), ("Port 12", "port 12"), ("Straße", "strasse"), ("STRASSE", "strasse"),
      ("ẞ", "ss"), ("ΣΊΣΥΦΟΣ", "σίσυφοσ"), ("σίσυφος", "σίσυφοσ"), ("İI", "i\u{307}i"), ("ı", "ı"),
      ("Ꭰꭰ", "ᎠᎠ"), ("µ", "μ"), ("ŉ", "ʼn"), ("ﬃ", "ffi"), ("ǅ", "ǆ"), ("🗺", "🗺"),
    ])
  func `case folds in full`(text: String, folded: String) {
    #expect(Array(TextFolding.cases(text).unicodeScalars) == Array(folded.unicodeScalars))
  }

  @Test(
    arguments: [
      ("", ""), ("plain", "plain"), ("Malmö", "Malmo"), ("Malmo\u{308}", "Malmo"),
      ("Ærøskøbing", "Ærøskøbing"), ("ệ", "e"), ("Å\u{212B}", "AA"), ("ガ", "カ"), ("한", "한"),
      ("\u{301}", ""), ("ẛ", "ſ"), ("Й", "И"), ("ï", "i"),
    ])
  func `accents fall off`(text: String, folded: String) {
    #expect(Array(TextFolding.accents(text).unicodeScalars) == Array(folded.unicodeScalars))
  }

  /// Python's `str.casefold` and `unicodedata` for every character that its Unicode has.
  @Test(.enabled(if: Programs.python != nil, "\(Programs.noPython)"))
  func `agrees with Python for every character`() throws {
    let script = """
      import sys, unicodedata as u
      def accents(c):
          d = u.normalize('NFD', c)
          return ''.join(x for x in d if not u.combining(x)) if any(map(u.combining, d)) else c
      for code in range(0x110000):
          c = chr(code)
          if u.category(c) in ('Cn', 'Cs', 'Co'): continue
          if int(u.unidata_version.split('.')[0]) > 14 and not u.ucd_3_2_0.category(c): continue
          a, f = accents(c), c.casefold()
          if a != c or f != c:
              print(*(','.join(str(ord(x)) for x in t) or '-' for t in (c, f, a)))
      """
    let lines = try Programs.output(try #require(Programs.python), ["-c", script])
    var expected: [UInt32: (String, String)] = [:]
    func text(_ codes: Substring) -> String {
      var scalars = String.UnicodeScalarView()
      for code in codes.split(separator: ",") {
        if let value = UInt32(code), let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
      }
      return String(scalars)
    }
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 3, let code = UInt32(parts[0]) else { continue }
      expected[code] = (text(parts[1]), text(parts[2]))
    }
    #expect(expected.count > 1_500)
    var different: [String] = []
    for (code, (cases, accents)) in expected {
      guard let scalar = Unicode.Scalar(code) else { continue }
      if !TextFolding.cases(String(scalar)).unicodeScalars.elementsEqual(cases.unicodeScalars)
        || !TextFolding.accents(String(scalar)).unicodeScalars.elementsEqual(
          accents.unicodeScalars)
      {
        different.append(String(code, radix: 16))
      }
    }
    #expect(different.isEmpty, "\(different.sorted().prefix(20))")
  }
}
