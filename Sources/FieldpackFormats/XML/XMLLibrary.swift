import CXML2

/// Facts about libxml2.
public enum XMLLibrary {
  /// The version this program was built with, for example "2.9.14".
  public static var version: String { LIBXML_DOTTED_VERSION }
}
