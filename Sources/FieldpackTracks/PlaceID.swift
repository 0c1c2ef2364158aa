import FieldpackCore

/// PhotoPath's name of a place: the MD5 digest of latitude and longitude, both as the shortest text
/// that reads back as the same number, one after the other.
///
/// No key: without a mark between both, (1.1, 23.4) and (1.12, 3.4) have the same one.
public enum PlaceID {
  public static func md5(latitude: Double, longitude: Double) -> String {
    MD5.hex(Array("\(latitude)\(longitude)".utf8))
  }
}
