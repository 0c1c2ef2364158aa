/// Removes differences between texts that a comparison ignores.
public enum TextFolding {
  /// The full case folding of Unicode (section 3.13, and 5.18 *Caseless Matching*), without the
  /// rules of single languages: `Straße` and `STRASSE` become `strasse`.
  ///
  /// Each character is folded by itself; the result is not normalised.
  public static func cases(_ text: String) -> String {
    if isASCII(text) { return asciiLowercased(text) }
    var folded = ""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x80 {
        folded.unicodeScalars.append(lowercased(ascii: scalar))
      } else {
        folded += folding(of: scalar)
      }
    }
    return folded
  }

  /// The text without accents: the canonical decomposition of each character, without the marks that
  /// combine (canonical combining class other than 0). `Ærøskøbing` stays, `Malmö` becomes `Malmo`.
  ///
  /// A character whose decomposition has no such mark stays as it is.
  public static func accents(_ text: String) -> String {
    if isASCII(text) { return text }
    var folded = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.value < 0xC0 {
        folded.append(scalar)
      } else if let bases = AccentTable.shared.bases[scalar] {
        folded.append(contentsOf: bases.unicodeScalars)
      } else if scalar.properties.canonicalCombiningClass == .notReordered {
        folded.append(scalar)
      }
    }
    return String(folded)
  }

  private static func isASCII(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 < 0x80 }
  }

  private static func asciiLowercased(_ text: String) -> String {
    let isLower = !text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    if isLower { return text }
    return String(
      decoding: text.utf8.map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
      }, as: UTF8.self)
  }

  private static func lowercased(ascii scalar: Unicode.Scalar) -> Unicode.Scalar {
    ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
  }

  /// The folding of Unicode's CaseFolding.txt, computed as lower case of upper case of lower case.
  /// Two exceptions differ from that: the dotless i stays, and Cherokee becomes capitals.
  private static func folding(of scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    case 0x131: return String(scalar)
    case 0x13A0...0x13F5: return String(scalar)
    case 0x13F8...0x13FD, 0xAB70...0xABBF: return scalar.properties.uppercaseMapping
    default: break
    }
    var folded = ""
    for small in scalar.properties.lowercaseMapping.unicodeScalars {
      for capital in small.properties.uppercaseMapping.unicodeScalars {
        folded += capital.properties.lowercaseMapping
      }
    }
    return folded
  }
}
