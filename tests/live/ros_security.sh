# shellcheck shell=bash
# Sourced: security FOLDER: an authority, an identity, and what they may do, as DDS Security 1.1 has them (openssl). $secured is what Cyclone takes of it
# (CYCLONEDDS_URI); the peer takes the folder. False: it cannot be, $why says so.
# shellcheck disable=SC2034 # why, secured: for the caller
# An identity's name decides which of two participants begins the handshake (the GUID begins with its hash, the lower one begins): Cyclone 0.10 and Fast DDS 2.9 come to
# its end only where Cyclone begins, so the reader has a name whose hash is greater than that of "freefloat".
security() {
  local to=$1 plugins who what
  why="needs openssl and Cyclone's plugins (libddsc0debian)"
  plugins=$(dirname "$(find /usr/lib /usr/local/lib -name libdds_security_auth.so 2> /dev/null | head -n 1)")
  command -v openssl > /dev/null && [ -e "$plugins/libdds_security_crypto.so" ] || return 1
  mkdir -p "$to" || return 1
  for who in ca freefloat viewer; do openssl ecparam -name prime256v1 -genkey -noout -out "$to/$who.key" 2> /dev/null || return 1; done
  openssl req -x509 -new -key "$to/ca.key" -days 30 -subj "/CN=authority" -out "$to/ca.pem" 2> /dev/null || return 1
  for who in freefloat viewer; do
    openssl req -new -key "$to/$who.key" -subj "/CN=$who" -out "$to/$who.csr" 2> /dev/null || return 1
    openssl x509 -req -in "$to/$who.csr" -CA "$to/ca.pem" -CAkey "$to/ca.key" -CAcreateserial -days 30 -out "$to/$who.pem" 2> /dev/null || return 1
  done
  mv "$to/viewer.pem" "$to/peer.pem"; mv "$to/viewer.key" "$to/peer.key"
  cat > "$to/governance.xml" << 'X'
<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_governance.xsd">
<domain_access_rules><domain_rule><domains><id_range><min>0</min><max>230</max></id_range></domains>
<allow_unauthenticated_participants>false</allow_unauthenticated_participants><enable_join_access_control>true</enable_join_access_control>
<discovery_protection_kind>NONE</discovery_protection_kind><liveliness_protection_kind>NONE</liveliness_protection_kind><rtps_protection_kind>NONE</rtps_protection_kind>
<topic_access_rules><topic_rule><topic_expression>*</topic_expression><enable_discovery_protection>false</enable_discovery_protection>
<enable_liveliness_protection>false</enable_liveliness_protection><enable_read_access_control>true</enable_read_access_control>
<enable_write_access_control>true</enable_write_access_control><metadata_protection_kind>ENCRYPT</metadata_protection_kind><data_protection_kind>ENCRYPT</data_protection_kind>
</topic_rule></topic_access_rules></domain_rule></domain_access_rules></dds>
X
  {
    echo '<?xml version="1.0" encoding="UTF-8"?><dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_permissions.xsd"><permissions>'
    for who in freefloat viewer; do
      echo "<grant name=\"$who\"><subject_name>CN=$who</subject_name><validity><not_before>2020-01-01T00:00:00</not_before><not_after>2099-01-01T00:00:00</not_after></validity>
<allow_rule><domains><id_range><min>0</min><max>230</max></id_range></domains><publish><topics><topic>*</topic></topics></publish>
<subscribe><topics><topic>*</topic></topics></subscribe></allow_rule><default>DENY</default></grant>"
    done
    echo '</permissions></dds>'
  } > "$to/permissions.xml"
  for what in governance permissions; do
    openssl smime -sign -in "$to/$what.xml" -text -out "$to/$what.p7s" -signer "$to/ca.pem" -inkey "$to/ca.key" 2> /dev/null || return 1
  done
  secured="<Domain><Security><Authentication><Library path=\"$plugins/libdds_security_auth.so\" initFunction=\"init_authentication\" finalizeFunction=\"finalize_authentication\"/>
<IdentityCA>file:$to/ca.pem</IdentityCA><IdentityCertificate>file:$to/freefloat.pem</IdentityCertificate><PrivateKey>file:$to/freefloat.key</PrivateKey></Authentication>
<AccessControl><Library path=\"$plugins/libdds_security_ac.so\" initFunction=\"init_access_control\" finalizeFunction=\"finalize_access_control\"/>
<PermissionsCA>file:$to/ca.pem</PermissionsCA><Governance>file:$to/governance.p7s</Governance><Permissions>file:$to/permissions.p7s</Permissions></AccessControl>
<Cryptographic><Library path=\"$plugins/libdds_security_crypto.so\" initFunction=\"init_crypto\" finalizeFunction=\"finalize_crypto\"/></Cryptographic></Security></Domain>"
}
