import CXML2

/// What is known of libxml2.
public enum XMLLibrary {
  /// The version this program was built with, for example "2.9.14".
  public static var version: String { LIBXML_DOTTED_VERSION }
}
