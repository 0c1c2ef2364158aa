import FieldpackCore

/// PhotoPath's name for a place: the MD5 digest of latitude and longitude, each as the shortest
/// text that reads back as the same number, without anything between them.
///
/// It does not identify a place: (1.1, 23.4) and (1.12, 3.4) have the same name.
public enum PlaceID {
  public static func md5(latitude: Double, longitude: Double) -> String {
    MD5.hex(Array("\(latitude)\(longitude)".utf8))
  }
}
